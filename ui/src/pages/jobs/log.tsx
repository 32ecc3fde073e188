// The log of a job, as it grows: only what came after the last line that was seen is asked for.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, type Problem } from "@/base/api";
import { problemOf } from "@/base/ask";
import { useWords } from "@/base/words";
import { Badge, When } from "@/parts/data";
import { Empty, ProblemBox } from "@/parts/feedback";
import { Panel } from "@/parts/layout";
import type { LogLine } from "@/pages/jobs/data";
import { words } from "@/pages/jobs/words";

const LOOK_MS = 1_000;
const LINES_MAX = 5_000; // that the page holds
type Level = keyof (typeof words)["en"]["levels"];

export function LogPanel({ jobKey, isRunning, isGone }: { jobKey: string; isRunning: boolean; isGone: boolean }): JSX.Element {
  const t = useWords(words);
  const { lines, problem } = useLog(jobKey, isRunning, isGone);
  return (
    <Panel title={t.log} actions={isRunning && <Badge tone="active">{t.live}</Badge>}>
      {problem && <ProblemBox problem={problem} />}
      {lines.length === 0 ? (
        <Empty title={t.logNone} icon="info">{t.logNext} <code>await job.log("…")</code></Empty>
      ) : (
        <div class="job-log" role="log" aria-label={t.log} tabIndex={0}>
          {lines.map((line) => (
            <div key={line.number}>
              <When at={line.at} />
              <span class={`level ${levelOf(line.level).toLowerCase()}`}>{t.levels[levelOf(line.level)]}</span>
              <span>{line.text}</span>
            </div>
          ))}
        </div>
      )}
    </Panel>
  );
}

function levelOf(level: number): Level {
  return level >= 40 ? "ERROR" : level >= 30 ? "WARNING" : level >= 20 ? "INFO" : "DEBUG";
}

function useLog(jobKey: string, isRunning: boolean, isGone: boolean): { lines: LogLine[]; problem: Problem | undefined } {
  const [lines, setLines] = useState<LogLine[]>([]);
  const [problem, setProblem] = useState<Problem | undefined>();
  useEffect(() => {
    if (isGone) return; // what was read of it stays
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let seen: LogLine[] = [];
    const look = async (): Promise<void> => {
      try {
        for (let isMore = true; isMore && !control.signal.aborted; ) {
          const after = seen.at(-1)?.number ?? 0;
          const page = await api.get<{ items: LogLine[]; endNumber: number | null }>(`/api/jobs/${jobKey}/log`, { after }, control.signal);
          seen = [...seen, ...page.items].slice(-LINES_MAX);
          isMore = page.endNumber !== null;
        }
        if (control.signal.aborted) return;
        setLines(seen);
        setProblem(undefined);
      } catch (error) {
        if (control.signal.aborted) return;
        const problem = problemOf(error);
        if (problem.status === 404 && isRunning) return; // it has just ended: whoever shows the job hears of it, too
        setProblem(problem);
      }
      if (isRunning) timer = setTimeout(() => void look(), LOOK_MS);
    };
    void look();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [jobKey, isRunning, isGone]);
  return { lines, problem };
}
