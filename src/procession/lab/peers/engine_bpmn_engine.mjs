// Drives bpmn-engine in memory: a process of two service tasks from start to end, nothing stored.
import { load, speak, state } from './speaking.mjs';

const { Engine } = await load('bpmn-engine');
const BpmnModdle = await load('bpmn-moddle');

const source = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:bench">
  <process id="bench" isExecutable="true">
    <startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="one"/>
    <serviceTask id="one" implementation="\${environment.services.work}"/>
    <sequenceFlow id="f2" sourceRef="one" targetRef="two"/>
    <serviceTask id="two" implementation="\${environment.services.work}"/>
    <sequenceFlow id="f3" sourceRef="two" targetRef="end"/><endEvent id="end"/>
  </process></definitions>`;

speak(async () => {
  let moddleContext;
  return {
    async open() {
      moddleContext = await new BpmnModdle().fromXML(source); // the model is read once
    },
    async start() {
      const engine = new Engine({ name: 'bench', moddleContext });
      const ended = engine.waitFor('end');
      await engine.execute({ services: { work: (context, callback) => callback(null, true) } });
      await ended;
      state.done += 1;
      await new Promise(setImmediate); // or nothing else in this process gets a turn
    },
  };
});
