/**
 * docs/state-machines.md, generated from the machines of `actors/` and the life cycles of `src/`: `npm run docs:machines`
 * writes it, and test/tidy/state-machines.test.ts wants it to be current. The sentence about each machine is the first
 * paragraph of its file.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { actorKinds, recordMachines } from "../../actors/kinds.ts";
import { leadsToGuard, type OutcomeAction, outcomeAction } from "../../actors/protocol/machine-setup.ts";
import { responderLife } from "../../src/edge/http/responder-states.ts";
import { pollLife } from "../../src/edge/realtime/long-poll.ts";
import { queueLife } from "../../src/edge/realtime/queue.ts";
import { readerLife } from "../../src/edge/realtime/socket-reader.ts";
import { sessionLife } from "../../src/edge/realtime/socket-states.ts";
import { highlighterLife } from "../../src/operations/media/code-highlighter.ts";
import type { LifeCycle } from "../../src/runtime/life-cycle.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export const statesPage = join(root, "docs/state-machines.md");

/** Every machine once: several addresses lead to the same actor. */
export const allMachines: readonly AnyStateMachine[] = [
  ...new Set([...Object.values(actorKinds), ...recordMachines].map(({ machine }) => machine)),
].sort((a, b) => (a.id < b.id ? -1 : 1));

/** A transition between two states: the command whose decision may lead there, and when it does. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly when: string;
  readonly command: string;
}

export function edgesOf(machine: AnyStateMachine): Edge[] {
  return Object.values(machine.states).flatMap((state: AnyStateNode) =>
    [...state.transitions].flatMap(([command, transitions]) =>
      transitions.flatMap(({ guard, target }): Edge[] => {
        const when = leadsToGuard(guard)?.params.when ?? "";
        return target === undefined ? [] : [{ from: state.key, to: target[0]?.key ?? state.key, when, command }];
      }),
    ),
  );
}

/** One arrow for each pair of states, with a line for each command. */
function arrowsOf(machine: AnyStateMachine): Map<string, string[]> {
  const arrows = new Map<string, string[]>();
  for (const { from, to, when, command } of edgesOf(machine)) {
    const arrow = `${nameOf(from)} --> ${nameOf(to)}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), when === "always" ? command : `${command} [${when}]`]);
  }
  return arrows;
}

/** Transitions that no decision of the machine makes: another actor writes the row that the state follows, or the row is deleted. */
interface Elsewhere {
  readonly from: string;
  /** "[*]": the row is deleted. */
  readonly to: string;
  readonly commands: readonly string[];
  readonly by?: string;
}

function elsewhereOf(machine: AnyStateMachine): readonly Elsewhere[] {
  return (machine.config.meta as { readonly elsewhere?: readonly Elsewhere[] } | undefined)?.elsewhere ?? [];
}

export interface Commands {
  readonly accepted: readonly string[];
  readonly ignored: readonly string[];
  readonly rejected: readonly string[];
}

/** The commands of a state: its own, and those of the whole machine that it does not override. */
export function commandsOf(machine: AnyStateMachine, state: AnyStateNode): Commands {
  const actions = new Map<string, unknown>();
  for (const level of [machine.root, state]) {
    for (const [type, [first]] of level.transitions) if (type !== "*") actions.set(type, first?.actions[0]);
  }
  const types = [...actions.keys()].sort();
  const taken = (kind: OutcomeAction["type"]) =>
    types.filter((type) => outcomeAction(actions.get(type))?.type === kind);
  return { accepted: taken("decide"), ignored: taken("ignore"), rejected: taken("reject") };
}

/** An actor's machine is in its own folder, a record's in the folder of the actor that keeps it. */
function fileOf(id: string): string {
  const names = [join(id, "machine.ts"), `${id}-machine.ts`];
  const found = readdirSync(join(root, "actors"), { recursive: true, encoding: "utf8" }).find((path) =>
    names.some((name) => path === name || path.endsWith(`/${name}`)),
  );
  if (found === undefined) throw new Error(`no file in actors/ declares the machine ${id}`);
  return join("actors", found);
}

/** The life cycles of `src/`, with the file that defines the table and the one that steps through it. */
export const lifeCycles: readonly {
  readonly id: string;
  readonly life: LifeCycle;
  readonly table: string;
  readonly user: string;
}[] = [
  {
    id: "code highlighter",
    life: highlighterLife,
    table: "src/operations/media/code-highlighter.ts",
    user: "src/operations/media/code-highlighter.ts",
  },
  { id: "event queue", life: queueLife, table: "src/edge/realtime/queue.ts", user: "src/edge/realtime/queue.ts" },
  {
    id: "HTTP responder",
    life: responderLife,
    table: "src/edge/http/responder-states.ts",
    user: "src/edge/http/http-responder.ts",
  },
  {
    id: "waiting poll",
    life: pollLife,
    table: "src/edge/realtime/long-poll.ts",
    user: "src/edge/realtime/long-poll.ts",
  },
  {
    id: "socket reader",
    life: readerLife,
    table: "src/edge/realtime/socket-reader.ts",
    user: "src/edge/realtime/socket-reader.ts",
  },
  {
    id: "socket session",
    life: sessionLife,
    table: "src/edge/realtime/socket-states.ts",
    user: "src/edge/realtime/socket-session.ts",
  },
];

/** The first paragraph of the comment that opens a file. */
function sentenceOf(path: string): string {
  const text = readFileSync(join(root, path), "utf8");
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? "";
  const lines = comment.trim().split(/\n? *\* ?/);
  const end = lines.findIndex(
    (line, index) => line === "" && index > 0 && lines.slice(0, index).some((it) => it !== ""),
  );
  return (end === -1 ? lines : lines.slice(0, end)).join(" ").trim();
}

/** Mermaid takes no hyphens in the name of a state. */
function nameOf(state: string): string {
  return state.replaceAll("-", "_");
}

function diagramOf(machine: AnyStateMachine): string[] {
  const initial = machine.root.initial.target[0]?.key ?? "";
  const states = Object.keys(machine.states);
  return [
    "stateDiagram-v2",
    ...states.filter((state) => nameOf(state) !== state).map((state) => `  state "${state}" as ${nameOf(state)}`),
    `  [*] --> ${nameOf(initial)}`,
    ...[...arrowsOf(machine)].map(([arrow, lines]) => `  ${arrow} : ${lines.join("<br>")}`),
    ...elsewhereOf(machine).map(
      ({ from, to, commands, by }) =>
        `  ${nameOf(from)} --> ${nameOf(to)} : ${[...commands, ...(by === undefined ? [] : [`(by ${by})`])].join("<br>")}`,
    ),
  ];
}

function codes(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.map((name) => `\`${name}\``).join(", ");
}

/** States with the same commands share a line. */
function tableOf(machine: AnyStateMachine): string[] {
  const lines = new Map<string, string[]>();
  for (const state of Object.values(machine.states)) {
    const { accepted, ignored, rejected } = commandsOf(machine, state);
    const cells = `${codes(accepted)} | ${codes(ignored)} | ${codes(rejected)}`;
    lines.set(cells, [...(lines.get(cells) ?? []), state.key]);
  }
  return [
    "| state | accepted commands | ignored | rejected |",
    "|---|---|---|---|",
    ...[...lines].map(([cells, states]) => `| ${states.join(", ")} | ${cells} |`),
  ];
}

function sectionOf(machine: AnyStateMachine): string[] {
  const { id } = machine;
  return [
    "",
    `## ${id}`,
    "",
    sentenceOf(fileOf(id)),
    "",
    "```mermaid",
    ...diagramOf(machine),
    "```",
    "",
    ...tableOf(machine),
  ];
}

function lifeSectionOf({ id, life, table }: (typeof lifeCycles)[number]): string[] {
  const [initial = ""] = Object.keys(life);
  const arrows = Object.entries(life).flatMap(([from, next]) =>
    [...new Set(Object.values(next))].map((to) => {
      const events = Object.keys(next).filter((event) => next[event] === to);
      return `  ${from} --> ${to} : ${events.join("<br>")}`;
    }),
  );
  const diagram = ["stateDiagram-v2", `  [*] --> ${initial}`, ...arrows];
  return ["", `### ${id}`, "", sentenceOf(table), "", "```mermaid", ...diagram, "```"];
}

export function renderStates(): string {
  const intro = [
    "# State machines",
    "",
    "`npm run docs:machines` writes this page from the machines in `actors/` and, after them, the tables of `src/`. Change",
    "a machine or a table, not this page.",
    "",
    "An arrow names the commands whose decision may lead there, and when it does; without such words it always does. A",
    "command that causes no transition is only in the table. A state answers a command that it rejects with an API error; an",
    "ignored command succeeds and changes nothing, such as a timer that is obsolete; a command in no column is a bug of",
    "its sender. A transition `by the realm` is one that the realm decides (M7).",
    "",
    "Channels, channel folders, scheduled messages and user groups are records, not actors: the realm or the user finds",
    "the record and checks who may change it, then the record's machine decides. Its state follows from its row.",
  ];
  const lives = [
    "",
    "## Life cycles",
    "",
    "These objects of `src/` are volatile, and there may be many thousands of them. Their states are unions, and a table",
    "that the compiler checks (`src/runtime/life-cycle.ts`) has every transition. An arrow names its events.",
  ];
  const sections = [...allMachines.flatMap(sectionOf), ...lives, ...lifeCycles.flatMap(lifeSectionOf)];
  return `${[...intro, ...sections].join("\n")}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(statesPage, renderStates());
