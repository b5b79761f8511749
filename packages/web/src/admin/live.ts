/**
 * What the operator's page knows: it asks every few seconds for the samples that it does not have, and rests while the
 * tab is hidden. After a restart of the server it begins anew.
 */
import { computed, signal } from "@preact/signals";

export type Series = readonly (number | null)[];
export type Metric = Readonly<Record<string, number>>;
export type Metrics = Readonly<Record<string, Metric>>;

interface LiveAnswer {
  readonly version: string;
  readonly node: string;
  readonly transport: string;
  readonly pid: number;
  readonly started_at: number;
  readonly now: number;
  readonly unready: string | null;
  readonly sample_ms: number;
  readonly samples_max: number;
  readonly next: number;
  readonly at: readonly number[];
  readonly values: Readonly<Record<string, Series>>;
  readonly metrics: Metrics;
}

export interface Letter {
  readonly id: number;
  readonly diedAt: string;
  readonly kind: string;
  readonly what: string;
  readonly attempts: number | null;
  readonly reason: string;
}

export type Phase =
  | { readonly kind: "loading" | "shown" | "hidden" }
  /** The key is asked for. */
  | { readonly kind: "locked" }
  | { readonly kind: "unreachable"; readonly why: string };

export const phase = signal<Phase>({ kind: "loading" });
export const live = signal<LiveAnswer | null>(null);
export const history = signal<{ readonly at: readonly number[]; readonly values: Readonly<Record<string, Series>> }>({
  at: [],
  values: {},
});
export const organizations = signal<Metrics | null>(null);

/** When what is shown was true, and when it was received. */
const received = signal({ server: 0, own: 0 });
/** The present on the server's clock. */
export const serverNow = (): number => received.value.server + (Date.now() - received.value.own);

export const series = (name: string): Series => history.value.values[name] ?? [];
export const metric = (name: string, label = ""): number | undefined =>
  (live.value?.metrics[name] ?? organizations.value?.[name])?.[label];
export const sampleSeconds = computed(() => (live.value?.sample_ms ?? 5000) / 1000);
export const samplesMax = computed(() => live.value?.samples_max ?? 720);

const tokenName = "colloquy-admin-token";
const requestMsMax = 8000;
/** The table of organizations is asked for with every so many samples. */
const organizationsEvery = 3;

export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** @throws Refused, or an error of the network */
async function request(path: string, body?: object): Promise<unknown> {
  const response = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      [tokenName]: localStorage.getItem(tokenName) ?? "none",
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestMsMax),
  });
  const answer = (await response.json()) as { readonly error?: { readonly message?: string } };
  if (response.ok) return answer;
  throw new Refused(response.status, answer.error?.message ?? `The server answered ${response.status}.`);
}

export function explain(error: unknown): string {
  return error instanceof Refused ? error.message : "The server did not answer.";
}

function fail(error: unknown): void {
  phase.value =
    error instanceof Refused && error.status === 401
      ? { kind: "locked" }
      : { kind: "unreachable", why: explain(error) };
}

const process = (answer: LiveAnswer | null) => (answer === null ? "" : `${answer.pid} ${answer.started_at}`);

/** Appends what is new; of a new process everything is. */
function take(answer: LiveAnswer): void {
  const isSame = process(live.value) === process(answer);
  const { at, values } = isSame ? history.value : { at: [], values: {} as Readonly<Record<string, Series>> };
  const kept = answer.samples_max;
  const appended = Object.entries(answer.values).map(
    ([name, added]) => [name, [...(values[name] ?? []), ...added].slice(-kept)] as const,
  );
  history.value = { at: [...at, ...answer.at].slice(-kept), values: Object.fromEntries(appended) };
  received.value = { server: answer.now, own: Date.now() };
  live.value = answer;
}

let timer: ReturnType<typeof setTimeout> | undefined;
let asked = 0;
let isAsking = false;

async function ask(): Promise<void> {
  const known = live.value;
  let answer = (await request(`/admin/live?after=${known?.next ?? 0}`)) as LiveAnswer;
  // A new process has other samples under these numbers.
  if (known !== null && process(known) !== process(answer))
    answer = (await request("/admin/live?after=0")) as LiveAnswer;
  take(answer);
  if (asked++ % organizationsEvery === 0 || organizations.value === null) await refreshOrganizations();
}

export async function refreshOrganizations(): Promise<void> {
  const { metrics } = (await request("/admin/live/organizations")) as { readonly metrics: Metrics };
  organizations.value = metrics;
}

/** Asks now, and again after each sample, as long as somebody can see the page. */
export async function poll(): Promise<void> {
  clearTimeout(timer);
  if (document.visibilityState === "hidden") {
    if (phase.value.kind === "shown") phase.value = { kind: "hidden" };
    return;
  }
  if (isAsking) return;
  isAsking = true;
  try {
    await ask();
    phase.value = { kind: "shown" };
  } catch (error) {
    fail(error);
  } finally {
    isAsking = false;
  }
  if (phase.value.kind !== "locked") timer = setTimeout(() => void poll(), live.value?.sample_ms ?? 5000);
}

export function start(): void {
  document.addEventListener("visibilitychange", () => {
    if (phase.value.kind !== "locked") void poll();
  });
  void poll();
}

/** @throws Refused, or an error of the network */
export async function logIn(key: string): Promise<void> {
  const { result } = (await request("/admin/log-in", { key })) as { readonly result: { readonly token: string } };
  localStorage.setItem(tokenName, result.token);
  await poll();
}

export async function logOut(): Promise<void> {
  clearTimeout(timer);
  // Without an answer the session ends by itself; the page forgets its part of it at once.
  await request("/admin/log-out", {}).catch(() => undefined);
  localStorage.removeItem(tokenName);
  phase.value = { kind: "locked" };
}

/** Whether the listener asks for a key, so that there is something to log out of. */
export const hasSession = (): boolean => localStorage.getItem(tokenName) !== null;

export async function lettersOf(
  realm: string,
): Promise<{ readonly total: number; readonly letters: readonly Letter[] }> {
  const path = `/admin/live/dead-letters?realm=${encodeURIComponent(realm)}`;
  return (await request(path)) as { readonly total: number; readonly letters: readonly Letter[] };
}

export interface LetterOutcome {
  readonly id: number;
  readonly problem: string | null;
}

export async function changeLetters(
  action: "retry" | "drop",
  realm: string,
  ids: "all" | readonly number[],
): Promise<readonly LetterOutcome[]> {
  const { result } = (await request(`/admin/dead-letters-${action}`, { realm, ids })) as {
    readonly result: { readonly letters: readonly LetterOutcome[] };
  };
  return result.letters;
}
