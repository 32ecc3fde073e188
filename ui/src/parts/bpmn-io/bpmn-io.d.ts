// What is used of the packages of bpmn.io that bring no types. Only this: what is not here is not used.

declare module "bpmn-js-properties-panel" {
  export const BpmnPropertiesPanelModule: object;
  export const BpmnPropertiesProviderModule: object;
  export const ZeebePropertiesProviderModule: object;
  export const ZeebeTooltipProvider: object;
}

declare module "camunda-bpmn-js-behaviors/lib/camunda-cloud" {
  const module: object;
  export default module;
}

declare module "bpmn-js-create-append-anything" {
  export const CreateAppendAnythingModule: object;
}

declare module "bpmn-js-token-simulation" {
  const module: object;
  export default module;
}

declare module "dmn-js-properties-panel" {
  export const DmnPropertiesPanelModule: object;
  export const DmnPropertiesProviderModule: object;
  export const ZeebePropertiesProviderModule: object;
}

declare module "zeebe-bpmn-moddle/resources/zeebe.json" {
  const descriptor: object;
  export default descriptor;
}

declare module "zeebe-dmn-moddle/resources/zeebe.json" {
  const descriptor: object;
  export default descriptor;
}

declare module "bpmn-js-i18n/translations/ru" {
  const words: Record<string, string>;
  export default words;
}

interface DmnElement {
  $type: string;
  id: string;
  name?: string;
}

interface DmnView {
  id: string;
  name?: string;
  type: "drd" | "decisionTable" | "literalExpression" | "boxedExpression";
  element: DmnElement;
}

interface DmnJs {
  importXML(xml: string): Promise<{ warnings: { message: string }[] }>;
  saveXML(options?: { format: boolean }): Promise<{ xml: string }>;
  getViews(): DmnView[];
  getActiveView(): DmnView | undefined;
  getActiveViewer(): { get<T>(name: string, strict?: boolean): T; on(event: string, call: () => void): void } | undefined;
  open(view: DmnView): Promise<unknown>;
  on(event: string, call: (event: { viewer?: { on(event: string, call: (event: { trigger?: string }) => void): void } }) => void): void;
  destroy(): void;
}

declare module "dmn-js/lib/Modeler" {
  const Modeler: new (options: object) => DmnJs;
  export default Modeler;
}

declare module "dmn-js/lib/NavigatedViewer" {
  const Viewer: new (options: object) => DmnJs;
  export default Viewer;
}

declare module "@bpmn-io/form-js-editor" {
  export class FormEditor {
    constructor(options: object);
    importSchema(schema: object): Promise<{ warnings: { message: string }[] }>;
    saveSchema(): object;
    get<T>(name: string, strict?: boolean): T;
    on(event: string, call: (event: { trigger?: string }) => void): void;
    destroy(): void;
  }
}

declare module "@bpmn-io/feel-editor" {
  export default class FeelEditor {
    constructor(options: object);
    setValue(value: string): void;
    setVariables(variables: { name: string; info?: string; detail?: string }[]): void;
    focus(position?: number): void;
  }
}
