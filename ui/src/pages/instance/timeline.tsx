// Everything that happened to an instance, as lines: what was entered, what it changed, how long it took, what went wrong.

import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Listed } from "@/base/ask";
import type { BpmnModel } from "@/base/bpmn";
import { span } from "@/base/dates";
import { Link } from "@/base/route";
import { useWords } from "@/base/words";
import { Button } from "@/parts/button";
import { Badge, JsonShort, When } from "@/parts/data";
import { Empty, Shown } from "@/parts/feedback";
import { Scroll } from "@/parts/scroll";
import { words as partWords } from "@/parts/words";
import type { Change, Entry } from "@/pages/instance/data";
import { linesOf, type Line } from "@/pages/instance/story";
import { words, type Words } from "@/pages/instance/words";

const LINES = 200; // that are drawn at first, and with each further step
const CHANGES = 20; // variables of one line; the others are asked for

interface TimelineProps {
  story: Listed<Entry>;
  element: string;
  onElement: (id: string) => void;
  model: BpmnModel | undefined;
}

export function TimelineView({ story, element, onElement, model }: TimelineProps): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  return (
    <Shown asked={story}>
      {(entries) => (
        <>
          {element && (
            <div class="panel-body row only">
              <Badge tone="active">{t.onlyOf(model?.elements.get(element)?.name ?? element)}</Badge>
              <Button kind="ghost" icon="close" onClick={() => onElement("")}>{t.showAll}</Button>
            </div>
          )}
          <Lines
            entries={entries}
            isWhole={!story.hasMore}
            element={element}
            onElement={onElement}
            rest={story.hasMore && <div class="table-foot"><span /><Button onClick={story.more} isBusy={story.isLoadingMore}>{parts.more}</Button></div>}
          />
        </>
      )}
    </Shown>
  );
}

interface LinesProps {
  entries: Entry[];
  isWhole: boolean;
  element: string;
  onElement: (id: string) => void;
  rest: ComponentChildren; // asks for what comes after these
}

function Lines({ entries, isWhole, element, onElement, rest }: LinesProps): JSX.Element {
  const t = useWords(words);
  const parts = useWords(partWords);
  const [shown, show] = useState(LINES);
  const all = useMemo(() => linesOf(entries, isWhole), [entries, isWhole]);
  const lines = element ? all.filter((line) => line.entry.elementId === element) : all;
  if (all.length === 0) return <Empty title={t.noHistory} icon="clock">{t.noHistoryNext}</Empty>;
  if (lines.length === 0) return <Empty title={t.nothingHere} icon="clock">{rest}</Empty>;
  return (
    <>
    <ol class="story">
      {lines.slice(0, shown).map((line) => (
        <li key={line.id} class={`story-line ${toneOf(line)}`} data-depth={Math.min(line.depth, 6)}>
          <span class="story-time"><When at={line.date} /></span>
          <span class={`story-sign ${shapeOf(line.entry)}`} aria-hidden="true" />
          <div class="story-body">
            <p class="story-head">
              {line.kind === "element" ? (
                <button type="button" class="story-name" onClick={() => onElement(line.entry.elementId ?? "")}>{line.entry.elementName || line.entry.elementId}{line.entry.loopIndex ? ` #${line.entry.loopIndex}` : ""}</button>
              ) : (
                <strong>{titleOf(line.entry, t)}</strong>
              )}
              <Notes line={line} t={t} />
              {line.isOpen && isWhole && <Badge tone="active">{t.now}</Badge>}
              {line.isInterrupted && <Badge tone="muted">{t.interrupted}</Badge>}
              {line.tookMs !== undefined && <span class="soft duration">{span(line.tookMs)}</span>}
            </p>
            {line.entry.message && line.kind === "remark" && <Scroll as="pre" class="story-message" label={t.problem}>{line.entry.message}</Scroll>}
            {line.changes.length > 0 && <Changes changes={line.changes} t={t} />}
          </div>
        </li>
      ))}
    </ol>
    {lines.length <= shown ? rest : <div class="table-foot"><span>{parts.shown(shown, lines.length, !isWhole)}</span><Button onClick={() => show(shown + LINES)}>{parts.more}</Button></div>}
    </>
  );
}

/** Jobs, tasks and waits of an element, in a few words each. */
function Notes({ line, t }: { line: Line; t: Words }): JSX.Element {
  const notes = line.notes.map((note): ComponentChildren => {
    switch (note.type) {
      case "job-created": return note.jobKind === "METHOD" ? t.eMethod(note.jobType ?? "") : t.eJob(note.jobType ?? "");
      case "user-task-created": return note.assignee ? t.eTaskOf(note.assignee) : t.eTask;
      case "timer-set": return <>{note.elementId !== line.entry.elementId && `${note.elementName}: `}{t.eTimer} <When at={note.dueDate} /></>;
      case "subscribed": return t.eSubscribed(awaited(note, t));
      case "called": return <>{t.eCalled} <Link to={`/instances/${note.processInstanceKey}`}>{note.processInstanceKey}</Link></>;
      default: return null;
    }
  });
  return <>{notes.map((note, index) => <span key={line.notes[index]?.index} class="soft">{note}</span>)}</>;
}

function awaited(entry: Entry, t: Words): string {
  if (entry.trigger === "SIGNAL") return t.eSignal(entry.name ?? "");
  if (entry.trigger === "CONDITIONAL") return t.eCondition;
  return t.eMessage(entry.name ?? "", entry.correlationKey ?? "");
}

function titleOf(entry: Entry, t: Words): ComponentChildren {
  switch (entry.type) {
    case "started": return entry.processInstanceKey ? <>{t.eStarted}, {t.eCalledFrom} <Link to={`/instances/${entry.processInstanceKey}`}>{entry.processInstanceKey}</Link></> : t.eStarted;
    case "ended": return entry.state === "COMPLETED" ? t.eCompleted : t.eTerminated;
    case "variables": return t.eVariables;
    case "job-attempt": return t.eAttempt(entry.attempt ?? 1, entry.jobType ?? "", entry.worker ?? "");
    case "job-ended": return entry.outcome === "failed" ? t.eJobFailed(entry.jobType ?? "") : t.eJobError(entry.jobType ?? "");
    case "job-revived": return t.eJobRevived(entry.retries ?? 0);
    case "user-task-updated": return t.eTaskUpdated(entry.outcome ?? "");
    case "triggered": return t.eTriggered(entry.elementName ?? entry.elementId ?? "");
    case "error": return entry.trigger === "ESCALATION" ? t.eEscalation(entry.code ?? "") : t.eError(entry.code ?? "");
    case "call-ended": return t.eCallEnded(entry.outcome ?? "");
    case "incident": return `${t.eIncident}: ${entry.elementName ?? entry.elementId ?? ""}`;
    case "incident-ended": return entry.outcome === "resolved" ? t.eIncidentEnded : t.eIncidentDropped;
    case "migrated": return t.eMigrated;
    case "suspended": return t.eSuspended;
    case "resumed": return t.eResumed;
    case "modified": return moved(entry, t);
    case "warning": return t.eWarning;
    case "decision": return <>{t.eDecision(entry.decisionId ?? "")} <JsonShort value={entry.result} /></>;
    default: return entry.type;
  }
}

/** Somebody has moved tokens: from where, to where. */
function moved(entry: Entry, t: Words): string {
  const { ended, begun } = { ended: [], begun: [], ...entry.details } as { ended: string[]; begun: string[] };
  return t.eModified([...new Set(ended)].join(", "), [...new Set(begun)].join(", "));
}

function toneOf(line: Line): string {
  if (line.entry.type === "incident" || (line.entry.type === "job-ended" && line.entry.outcome === "failed")) return "bad";
  if (["error", "warning", "job-ended", "job-attempt", "triggered"].includes(line.entry.type)) return "warn";
  if (line.entry.type === "ended") return line.entry.state === "COMPLETED" ? "good" : "";
  return line.isOpen ? "open" : "";
}

function shapeOf(entry: Entry): string {
  const type = entry.elementType ?? "";
  if (!["element-started", "element-passed"].includes(entry.type)) return "remark";
  if (type.endsWith("GATEWAY")) return "gateway";
  if (type.endsWith("EVENT")) return type === "END_EVENT" ? "event end" : "event";
  return "task";
}

function Changes({ changes, t }: { changes: Change[]; t: Words }): JSX.Element {
  const parts = useWords(partWords);
  const [isWhole, showWhole] = useState(false);
  const shown = isWhole ? changes : changes.slice(0, CHANGES);
  const more = changes.length > shown.length && <Button kind="ghost" onClick={() => showWhole(true)}>{parts.more_items(changes.length - shown.length)}</Button>;
  if (!changes.some(({ isKnown }) => isKnown)) {
    return <p class="changed" title={t.unknownValue}>{shown.map(({ name }, index) => <code key={name + index}>{name}</code>)}{more}</p>;
  }
  return (
    <>
    <Scroll class="changes-box" label={t.variables}><table class="changes">
      <thead><tr><th scope="col">{t.name}</th><th scope="col">{t.before}</th><th scope="col">{t.after}</th></tr></thead>
      <tbody>
        {shown.map((change, index) => (
          <tr key={change.name + index}>
            <th scope="row">{change.name}</th>
            <td>{change.isKnown ? (change.isNew ? <span class="none">–</span> : <JsonShort value={change.before} />) : <span class="soft">{t.unknownValue}</span>}</td>
            <td>{change.isKnown && <JsonShort value={change.after} />}</td>
          </tr>
        ))}
      </tbody>
    </table></Scroll>
    {more}
    </>
  );
}
