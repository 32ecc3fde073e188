// One job: why it waits, what it was given and gave, its error, its log as it grows, what it belongs to.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "@/base/api";
import { problemOf, useAsk } from "@/base/ask";
import { dateTime, span } from "@/base/dates";
import { Link, navigate } from "@/base/route";
import { useLanguage, useWords } from "@/base/words";
import type { PageProps } from "@/pages/entry";
import { Button } from "@/parts/button";
import { Badge, JsonView, Key, Pairs, When } from "@/parts/data";
import { Shown, toast, toastProblem } from "@/parts/feedback";
import { PageHead, Panel } from "@/parts/layout";
import { Scroll } from "@/parts/scroll";
import { ChangeDialog } from "@/pages/jobs/change";
import { gist, type Job, type JobAttempt, type JobDetails, type JobState, type Queues, type RelatedJob } from "@/pages/jobs/data";
import { FlowPanel } from "@/pages/jobs/flow";
import { ProgressOf, ReasonDialog, StateOfJob } from "@/pages/jobs/frame";
import { LogPanel } from "@/pages/jobs/log";
import { words } from "@/pages/jobs/words";

const LOOK_MS = 1_000; // between two looks at a job that runs: what it reports is no event

export default function OneJob({ params }: PageProps): JSX.Element {
  const t = useWords(words);
  const key = params.key ?? "";
  const [last, setLast] = useState<JobDetails>(); // of a job that has gone while it was looked at
  const isGone = last?.job.jobKey === key;
  const asked = useAsk(isGone ? null : `job ${key}`, (signal) => api.get<JobDetails>(`/api/jobs/${encodeURIComponent(key)}`, undefined, signal), ["jobs"]);
  const isRunning = !isGone && asked.data?.job.state === "RUNNING";
  useEffect(() => {
    if (asked.data && asked.problem?.status === 404) setLast(asked.data);
  }, [asked.data, asked.problem]);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => !document.hidden && asked.reload(), LOOK_MS);
    return () => clearInterval(timer);
  }, [isRunning, asked.reload]);
  const details = isGone ? last : asked.data;
  if (!details) {
    return (
      <>
        <PageHead title={t.jobOf(key)} crumbs={[{ title: t.title, to: "/jobs" }]} />
        <Shown asked={asked}>{() => null}</Shown>
      </>
    );
  }
  const { job, parents, children, checkpoint, attempts = [] } = details;
  return (
    <>
      <PageHead
        title={job.title || job.type || t.kinds[job.kind]}
        crumbs={[{ title: t.title, to: "/jobs" }, { title: job.queue, to: `/jobs?queue=${encodeURIComponent(job.queue)}` }]}
        subtitle={
          <>
            <StateOfJob state={isGone ? "GONE" : job.state} />
            <Key value={job.jobKey} />
            <span>{t.kinds[job.kind]}</span>
            {job.tags.map((tag) => <Link key={tag} to={`/jobs?tag=${encodeURIComponent(tag)}`}><Badge>{tag}</Badge></Link>)}
          </>
        }
        actions={!isGone && <Actions job={job} onDone={asked.reload} />}
      />
      <Shown asked={isGone ? { ...asked, data: last } : asked}>
        {() => (
          <>
            <Panel title={!isGone && WAITING.includes(job.state) ? t.why : t.how}>
              <div class="panel-body stack">
                {isGone ? <p>{t.whyGone}</p> : <Why job={job} parents={parents} />}
                <ProgressOf progress={job.progress} text={job.progressText} />
              </div>
            </Panel>
            {attempts.length > 1 ? <AttemptsPanel attempts={attempts} isFailed={job.state === "FAILED"} /> : job.errorMessage && <ErrorPanel job={job} />}
            {parents.length + children.length > 0 && <FlowPanel job={job} />}
            <div class="job-columns">
              <div class="stack">
                <Panel title={t.about}><div class="panel-body"><About job={job} /></div></Panel>
                <Related title={t.parents} jobs={parents} />
                <Related title={t.children} jobs={children} />
              </div>
              <div class="stack">
                <Value title={t.args} value={job.args} />
                {job.output !== null && <Value title={t.output} value={job.output} />}
                {checkpoint !== null && <Value title={t.checkpoint} value={checkpoint} />}
                {Object.keys(job.metadata).length > 0 && <Panel title={t.metadata}><div class="panel-body"><Pairs rows={Object.entries(job.metadata)} /></div></Panel>}
              </div>
            </div>
            <LogPanel jobKey={job.jobKey} isRunning={isRunning} isGone={isGone} />
          </>
        )}
      </Shown>
    </>
  );
}

function Value({ title, value }: { title: string; value: unknown }): JSX.Element {
  return <Panel title={title}><div class="panel-body"><JsonView value={value} /></div></Panel>;
}

function ErrorPanel({ job }: { job: Job }): JSX.Element {
  const t = useWords(words);
  const line = gist(job.errorMessage);
  return (
    <Panel title={<>{t.error} <span class="soft">{t.errorAt(job.attempt)}</span></>}>
      <div class="panel-body stack">
        <strong class="bad job-gist">{line}</strong>
        {job.errorMessage.trim() !== line && (
          <details open={job.state === "FAILED"}>
            <summary>{t.trace}</summary>
            <Scroll as="pre" class="job-trace" label={t.trace}>{job.errorMessage}</Scroll>
          </details>
        )}
      </div>
    </Panel>
  );
}

/** Each attempt that failed, the last one first. */
function AttemptsPanel({ attempts, isFailed }: { attempts: JobAttempt[]; isFailed: boolean }): JSX.Element {
  const t = useWords(words);
  return (
    <Panel title={t.attempts(attempts.length)}>
      <ol class="job-attempts">
        {attempts.toReversed().map((each, index) => (
          <li key={index}>
            <div class="row">
              <strong>{t.attemptOf(each.attempt)}</strong>
              <span class="soft"><When at={each.at} /> {each.worker}</span>
            </div>
            <span class="bad job-gist">{gist(each.message) || each.errorType}</span>
            {each.message.trim() !== gist(each.message) && (
              <details open={isFailed && index === 0}>
                <summary>{t.trace}</summary>
                <Scroll as="pre" class="job-trace" label={t.trace}>{each.message}</Scroll>
              </details>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function About({ job }: { job: Job }): JSX.Element {
  const t = useWords(words);
  useLanguage();
  const rows: [string, ComponentChildren][] = [
    [t.type, job.type && <Link to={`/jobs?type=${encodeURIComponent(job.type)}`}>{job.type}</Link>],
    [t.queue, <Link to={`/jobs?queue=${encodeURIComponent(job.queue)}`}>{job.queue}</Link>],
    [t.attempt, job.attempt],
    [t.retries, job.retries],
    [t.crashes, job.crashes || ""],
    [t.priority, job.priority],
    [t.created, <When at={job.createdAt} />],
    [t.due, !job.endedAt && <When at={job.runAt} />],
    [t.ended, job.endedAt && <When at={job.endedAt} />],
    [t.process, job.node > 0 && <Link to="/jobs/workers">{job.node}</Link>],
    [t.instance, job.processInstanceKey && <Link to={`/instances/${job.processInstanceKey}`}>{job.processInstanceKey}</Link>],
    [t.batch, job.batchKey && <Link to={`/jobs?batch=${job.batchKey}`}>{job.batchKey}</Link>],
    [t.limitsOf, job.limits.length > 0 && <Link to="/jobs/limits">{job.limits.join(", ")}</Link>],
    [t.unique, job.uniqueKey],
    [t.fair, job.fairKey],
    [t.timeout, job.timeoutMs > 0 && span(job.timeoutMs)],
    [t.deadline, job.deadlineAt && <When at={job.deadlineAt} />],
    [t.tenant, job.tenantId],
  ];
  return <Pairs rows={rows.filter(([, value]) => value !== "" && value !== null && value !== false)} />;
}

function Related({ title, jobs }: { title: string; jobs: RelatedJob[] }): JSX.Element | null {
  const t = useWords(words);
  if (jobs.length === 0) return null;
  return (
    <Panel title={title}>
      <ul class="job-related">
        {jobs.map((each) => (
          <li key={each.jobKey}>
            {each.state === "GONE" ? <span>{each.title || each.type || each.jobKey}</span> : <Link to={`/jobs/${each.jobKey}`}>{each.title || each.type || each.jobKey}</Link>}
            <StateOfJob state={each.state} />
            {each.either && <small>{t.either}</small>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

// -- why it waits -----------------------------------------------------------------------------------------------------
function Why({ job, parents }: { job: Job; parents: RelatedJob[] }): JSX.Element {
  const t = useWords(words);
  useLanguage();
  const queues = useAsk(job.state === "READY" ? "queues" : null, (signal) => api.get<Queues>("/api/queues", undefined, signal), ["jobs"]);
  const pauses = [
    ...(queues.data?.items ?? []).filter((each) => each.isPaused && each.queue === job.queue).map((each) => each.queue),
    ...(queues.data?.pausedTypes ?? []).filter((each) => each.type === job.type).map((each) => each.type),
  ];
  return <p class="job-why">{sentence(t, job, parents, pauses[0])}</p>;
}

function sentence(t: (typeof words)["en"], job: Job, parents: RelatedJob[], pause: string | undefined): string {
  const when = dateTime(job.runAt);
  const isOpen = (each: RelatedJob): boolean => !["SUCCEEDED", "DELETED", "GONE"].includes(each.state) && !(each.either && each.state === "FAILED");
  const sentences: Record<JobState, () => string> = {
    READY: () => (pause === undefined ? t.whyReady(job.queue) : t.whyPaused(pause)),
    RUNNING: () => (job.cancelReason === null ? t.whyRunning(job.node) : t.whyCanceling),
    SCHEDULED: () => (job.errorMessage && job.attempt ? t.whyAgain(when) : t.whyDue(when)),
    AWAITING: () => t.whyAwaits(parents.filter(isOpen).length),
    THROTTLED: () => throttled(t, job, when),
    FAILED: () => (job.kind === "TASK" ? t.whyFailed : t.whyIncident),
    SUSPENDED: () => t.whySuspended,
    SUCCEEDED: () => t.whySucceeded,
    DELETED: () => t.whyDeleted,
  };
  return sentences[job.state]();
}

function throttled(t: (typeof words)["en"], job: Job, when: string): string {
  if (job.waitsFor) return t.whySlot(job.waitsFor);
  const limits = job.limits.join(", ");
  return new Date(job.runAt).getTime() > Date.now() ? t.whyRate(limits, when) : t.whyAdmitted(limits, job.queue);
}

// -- actions ----------------------------------------------------------------------------------------------------------
const WAITING: JobState[] = ["READY", "SCHEDULED", "AWAITING", "THROTTLED", "SUSPENDED"];

function Actions({ job, onDone }: { job: Job; onDone: () => void }): JSX.Element {
  const t = useWords(words);
  const [open, setOpen] = useState<"change" | "delete" | null>(null);
  const isOver = job.state === "SUCCEEDED" || job.state === "DELETED";
  const requeue = async (): Promise<void> => {
    try {
      await api.post(`/api/jobs/${job.jobKey}/requeue`, {});
      toast(t.requeued);
      onDone();
    } catch (error) {
      toastProblem(problemOf(error));
    }
  };
  const remove = async (reason: string): Promise<void> => {
    const { outcome } = await api.delete<{ outcome: "DELETED" | "CANCELING" }>(`/api/jobs/${job.jobKey}?reason=${encodeURIComponent(reason)}`);
    toast(outcome === "DELETED" ? t.removed : t.canceling);
    if (outcome === "DELETED") navigate("/jobs");
  };
  if (job.kind !== "TASK") {
    // what belongs to a process is changed there: its state is not the queue's alone
    return <>{job.processInstanceKey && <Link class="button" to={`/instances/${job.processInstanceKey}`}>{t.toInstance}</Link>}</>;
  }
  return (
    <>
      <Button role="operator" icon="retry" title={t.requeueText} disabled={job.state !== "FAILED" && job.state !== "SCHEDULED"} onClick={() => void requeue()}>{t.requeue}</Button>
      <Button role="operator" disabled={!WAITING.includes(job.state)} onClick={() => setOpen("change")}>{t.change}</Button>
      <Button role="operator" icon="trash" disabled={isOver} onClick={() => setOpen("delete")}>{t.remove}</Button>
      {open === "change" && <ChangeDialog job={job} onClose={(isDone) => { setOpen(null); if (isDone) onDone(); }} />}
      {open === "delete" && (
        <ReasonDialog title={`${t.remove}: ${job.title || job.type}`} text={t.removeText} verb={t.remove} isDangerous act={remove} onClose={(isDone) => { setOpen(null); if (isDone) onDone(); }} />
      )}
    </>
  );
}
