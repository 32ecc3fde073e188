// Packages without types of their own, as far as they are used.

declare module "bpmn-auto-layout" {
  export function layoutProcess(xml: string): Promise<string>;
}
