// The viewer of form-js with its styles, apart, so that it is loaded with the first form.

import "@bpmn-io/form-js/dist/assets/form-js.css";
import "@/parts/bpmn-io/bpmn-io.css";
import { Form } from "@bpmn-io/form-js-viewer";

/** A form that draws itself into the element. */
export function drawn(container: HTMLElement): Form {
  return new Form({ container });
}
