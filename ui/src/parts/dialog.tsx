// Dialogs: the browser's own, which holds the focus, closes with Escape and gives the focus back.

import type { ComponentChildren, JSX } from "preact";
import { render } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Problem } from "@/base/api";
import { useAct } from "@/base/ask";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { ProblemBox } from "@/parts/feedback";
import { words } from "@/parts/words";

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  buttons?: ComponentChildren;
  isWide?: boolean;
  problem?: Problem | undefined;
  onSubmit?: () => void;
}

/** A dialog for as long as it is rendered. */
export function Dialog(props: DialogProps): JSX.Element {
  const t = useWords(words);
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    const first = dialog?.querySelector<HTMLElement>(".dialog-body :is(input, select, textarea), footer .button[type=submit]");
    first?.focus(); // rather than the button that closes
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={element} class={props.isWide ? "dialog wide" : "dialog"} aria-labelledby={id} onCancel={(event) => { event.preventDefault(); props.onClose(); }}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          props.onSubmit?.();
        }}
      >
        <header>
          <h2 id={id}>{props.title}</h2>
          <Button kind="ghost" icon="close" label={t.close} onClick={props.onClose} />
        </header>
        <div class="dialog-body">
          {props.children}
          {props.problem && <ProblemBox problem={props.problem} />}
        </div>
        {props.buttons && <footer>{props.buttons}</footer>}
      </form>
    </dialog>
  );
}

export interface Question {
  title: string;
  text?: ComponentChildren;
  verb: string;
  isDangerous?: boolean;
  act: () => Promise<unknown>;
}

/** Asks whether it shall be done, does it, and stays open with the problem if that fails. Resolves to whether it was done. */
export function confirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const place = document.createElement("div");
    document.body.append(place);
    const end = (isDone: boolean): void => {
      render(null, place);
      place.remove();
      resolve(isDone);
    };
    render(<Confirmation question={question} onEnd={end} />, place);
  });
}

function Confirmation({ question, onEnd }: { question: Question; onEnd: (isDone: boolean) => void }): JSX.Element {
  const t = useWords(words);
  const { isBusy, problem, act } = useAct();
  const go = async (): Promise<void> => {
    if (await act(question.act)) onEnd(true);
  };
  return (
    <Dialog
      title={question.title}
      onClose={() => onEnd(false)}
      problem={problem}
      onSubmit={() => void go()}
      buttons={
        <>
          <Button onClick={() => onEnd(false)}>{t.cancel}</Button>
          <Button kind={question.isDangerous ? "danger" : "primary"} type="submit" isBusy={isBusy}>
            {question.verb}
          </Button>
        </>
      }
    >
      {question.text && <p>{question.text}</p>}
    </Dialog>
  );
}

/** A field of a form with its label. */
export function Field(props: { label: string; hint?: string; children: (id: string) => ComponentChildren }): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.children(id)}
      {props.hint && <small id={`${id}-hint`}>{props.hint}</small>}
    </div>
  );
}

export function useOpen<T = true>(): { value: T | null; open: (value: T) => void; close: () => void } {
  const [value, set] = useState<T | null>(null);
  return { value, open: (next) => set(() => next), close: () => set(null) };
}
