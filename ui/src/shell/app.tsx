// The frame: who the reader is, the navigation, and the page that the address names.

import { Component, type ComponentChildren, type FunctionComponent, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, credentials, Problem, whenUnknown } from "@/base/api";
import { problemOf } from "@/base/ask";
import { may, me, setMe, type Me } from "@/base/me";
import { Link, match, useRoute } from "@/base/route";
import { useStored } from "@/base/stored";
import { useLanguage, useWords } from "@/base/words";
import { pages } from "@/pages";
import type { PageEntry, PageProps, PageRoute } from "@/pages/entry";
import { Button } from "@/parts/button";
import { Empty, Loading, ProblemBox, Toasts } from "@/parts/feedback";
import { LogIn } from "@/shell/login";
import { Navigation } from "@/shell/navigation";
import { words } from "@/shell/words";

export function App(): JSX.Element {
  const tongue = useLanguage();
  const authorization = credentials.use();
  const [who, setWho] = useState<Me | Problem | null>(null);
  useEffect(() => {
    document.documentElement.lang = tongue;
  }, [tongue]);
  const ask = (): void => {
    api.get<Me>("/v2/authentication/me").then(
      (found) => {
        setMe(found);
        setWho(found);
      },
      (error: unknown) => {
        setMe(null);
        setWho(problemOf(error));
      },
    );
  };
  useEffect(ask, [authorization]);
  useEffect(() => {
    whenUnknown(() => {
      if (me.current) ask(); // once: asking forgets who it was
      setMe(null);
    });
  }, []);
  useEffect(() => {
    if (!(who instanceof Problem) || who.status !== 0) return;
    const timer = setInterval(ask, 3_000);
    return () => clearInterval(timer);
  }, [who]);

  if (who === null) return <Loading />;
  if (who instanceof Problem) {
    if (who.status === 401) return <LogIn isRefused={authorization !== null} />;
    return <div class="alone"><ProblemBox problem={who} onRetry={ask} /></div>;
  }
  return <Frame />;
}

function Frame(): JSX.Element {
  const t = useWords(words);
  const { path } = useRoute();
  const found = locate(path);
  return (
    <div class="frame">
      <a class="skip" href="#content">{t.skip}</a>
      <Navigation current={found?.entry.under ?? found?.entry.id} />
      <main id="content" tabIndex={-1}>
        {!may("reader") ? <WorkOnly /> : found ? <Shown key={found.route.path + JSON.stringify(found.params)} {...found} /> : <Nowhere />}
      </main>
      <Toasts />
    </div>
  );
}

interface Found {
  entry: PageEntry;
  route: PageRoute;
  params: Record<string, string>;
}

function locate(path: string): Found | undefined {
  for (const entry of pages) {
    for (const route of entry.routes) {
      const params = match(route.path, path);
      if (params) return { entry, route, params };
    }
  }
  return undefined;
}

const loaded = new Map<PageRoute, FunctionComponent<PageProps>>();

function Shown({ route, params }: Found): JSX.Element {
  const [, turn] = useState(0);
  const [problem, setProblem] = useState<Problem | null>(null);
  const Page = loaded.get(route);
  useEffect(() => {
    if (Page) return;
    route.load().then(
      (module) => {
        loaded.set(route, module.default);
        turn((count) => count + 1);
      },
      // the server is away, or has another version of the page by now
      () => setProblem(new Problem(0, "Unreachable", "")),
    );
  }, [route]);
  useEffect(() => (problem ? comeBack() : undefined), [problem]);
  if (problem) return <ProblemBox problem={problem} onRetry={() => location.reload()} />;
  if (!Page) return <Loading />;
  return (
    <Boundary>
      <Page params={params} />
    </Boundary>
  );
}

const AGAIN_MS = 3_000;
const reloaded = useStored.create("reloaded", 0, "session");
const RELOADS_APART_MS = 30_000; // a page that cannot be loaded whatever one does is not loaded all the time

/** Loads the page anew once the server answers. */
function comeBack(): () => void {
  const timer = setInterval(() => {
    if (Date.now() - reloaded.get() < RELOADS_APART_MS) return;
    api.text("/v2/status").then(
      () => {
        reloaded.set(Date.now());
        location.reload();
      },
      () => undefined,
    );
  }, AGAIN_MS);
  return () => clearInterval(timer);
}

/** Who may take jobs and nothing else, or nothing at all, is told so, instead of a refusal on every page. */
function WorkOnly(): JSX.Element {
  const t = useWords(words);
  const name = me.current?.username ?? "";
  const isWorker = may("worker");
  return (
    <section class="panel work-only">
      <h1>{isWorker ? t.workOnly : t.noRoles}</h1>
      <p>{isWorker ? t.workOnlyText(name) : t.noRolesText(name)}</p>
      <p class="soft">{t.workOnlyNext}<br /><code>procession tokens create {name || "ada"} --role reader</code></p>
      {isWorker && <p class="soft">{t.workOnlyApi} <a href="/openapi.json">/openapi.json</a></p>}
      {credentials.get() && <Button kind="primary" onClick={() => credentials.set(null)}>{t.logInOther}</Button>}
    </section>
  );
}

function Nowhere(): JSX.Element {
  const t = useWords(words);
  return (
    <Empty title={t.nothing} icon="search">
      <p>{t.nothingText}</p>
      <Link to={pages.find((page) => page.home)?.home ?? "/"}>{t.toStart}</Link>
    </Empty>
  );
}

/** A page that fails says so, and leaves the others reachable. */
class Boundary extends Component<{ children: ComponentChildren }, { error: Error | null }> {
  override state = { error: null as Error | null };

  override componentDidCatch(error: Error): void {
    console.error(error);
    this.setState({ error });
  }

  override render(): ComponentChildren {
    return this.state.error ? <Broken error={this.state.error} /> : this.props.children;
  }
}

function Broken({ error }: { error: Error }): JSX.Element {
  const t = useWords(words);
  return <ProblemBox problem={new Problem(0, t.broken, error.message)} onRetry={() => location.reload()} />;
}
