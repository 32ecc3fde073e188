"""XML to drafts: what each BPMN element and vendor extension means. Rules about the whole stand in `rules`."""
