"""BPMN XML to an immutable, compiled definition, with every problem reported at once. Pure: it reads no file or clock."""
