// Why a message does not arrive: who waits for it, and what differs.

import type { JSX } from "preact";

export function Messages(): JSX.Element {
  return <div />;
}
