// What a new file begins with.

import type { Kind } from "./editor";

/** A new file of a kind; `chance` makes its ids differ from those of the last one. */
export function blank(kind: Kind, chance: string): string {
  switch (kind) {
    case "bpmn":
      return process(chance);
    case "dmn":
      return decision(chance);
    case "form":
      return JSON.stringify({ type: "default", id: `form-${chance}`, schemaVersion: 19, components: [] }, null, 2);
  }
}

function process(chance: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="definitions-${chance}" targetNamespace="http://bpmn.io/schema/bpmn">
  <bpmn:process id="process-${chance}" isExecutable="true">
    <bpmn:startEvent id="start" />
  </bpmn:process>
  <bpmndi:BPMNDiagram id="diagram">
    <bpmndi:BPMNPlane id="plane" bpmnElement="process-${chance}">
      <bpmndi:BPMNShape id="start_shape" bpmnElement="start">
        <dc:Bounds x="180" y="160" width="36" height="36" />
      </bpmndi:BPMNShape>
    </bpmndi:BPMNPlane>
  </bpmndi:BPMNDiagram>
</bpmn:definitions>
`;
}

function decision(chance: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:dmndi="https://www.omg.org/spec/DMN/20191111/DMNDI/" xmlns:dc="http://www.omg.org/spec/DMN/20180521/DC/" id="definitions-${chance}" name="Decisions" namespace="http://camunda.org/schema/1.0/dmn">
  <decision id="decision-${chance}" name="Decision">
    <decisionTable id="table-${chance}" hitPolicy="UNIQUE">
      <input id="input-1" label="Input">
        <inputExpression id="expression-1" typeRef="string"><text>input</text></inputExpression>
      </input>
      <output id="output-1" label="Output" name="output" typeRef="string" />
    </decisionTable>
  </decision>
  <dmndi:DMNDI>
    <dmndi:DMNDiagram>
      <dmndi:DMNShape dmnElementRef="decision-${chance}">
        <dc:Bounds x="160" y="100" width="180" height="80" />
      </dmndi:DMNShape>
    </dmndi:DMNDiagram>
  </dmndi:DMNDI>
</definitions>
`;
}
