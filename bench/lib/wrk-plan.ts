// What wrk sends, as a file of Lua that bench/native/load.lua reads, and what it reports, as JSON on the last line of
// its output.

import { MARKER, MARKER_DIGITS, MARKER_DIGITS_OFFSET } from "./http-request.ts";
import type { Cycle, Failures } from "./job.ts";
import { type LatencySummary, PERCENTILES } from "./recorder.ts";

/** A block has this many slots per connection: when a slot's next request is sent, its previous one was answered. */
const SLOTS_PER_CONNECTION = 4;

export interface WrkPlan {
  readonly cycles: readonly Cycle[];
  readonly connections: number;
  readonly firstMarker: number;
}

/** Number of requests after which every slot has completed its cycle. */
export function roundRequests(plan: Pick<WrkPlan, "cycles" | "connections">): number {
  return blockSlots(plan) * stepsOf(plan);
}

/** The file's text. */
export function formatPlan(plan: WrkPlan): string {
  const cycles = plan.cycles.map((cycle) => tableOf(cycle.map((text) => tableOf(piecesOf(text).map(quote)))));
  return `return { first = ${plan.firstMarker}, block = ${blockSlots(plan)}, steps = ${stepsOf(plan)}, cycles = ${tableOf(cycles)} }\n`;
}

function stepsOf({ cycles }: Pick<WrkPlan, "cycles">): number {
  const lengths = new Set(cycles.map((cycle) => cycle.length));
  const [steps] = lengths;
  if (steps === undefined || steps === 0 || lengths.size > 1) throw new Error("wrk needs cycles of the same length");
  return steps;
}

/** A multiple of the cycles, so that each is sent equally often. */
function blockSlots({ cycles, connections }: Pick<WrkPlan, "cycles" | "connections">): number {
  return Math.ceil((SLOTS_PER_CONNECTION * connections) / cycles.length) * cycles.length;
}

/** The request without the digits of its markers. */
function piecesOf(request: string): string[] {
  const before = MARKER.slice(0, MARKER_DIGITS_OFFSET);
  const after = MARKER.slice(MARKER_DIGITS_OFFSET + MARKER_DIGITS);
  const parts = request.split(MARKER);
  return parts.map((part, index) => `${index > 0 ? after : ""}${part}${index < parts.length - 1 ? before : ""}`);
}

function tableOf(items: readonly string[]): string {
  return `{${items.join(",")}}`;
}

/** A string of Lua with one byte per character of `text` (requests are ASCII). */
function quote(text: string): string {
  const escaped = text.replaceAll(
    /[^ !#-[\]-~]/g,
    (character) => `\\${String(character.charCodeAt(0)).padStart(3, "0")}`,
  );
  return `"${escaped}"`;
}

export interface WrkReport {
  /** Answers, of any status, and the seconds in which they arrived. */
  readonly answered: number;
  readonly seconds: number;
  readonly latency: LatencySummary;
  /** Requests handed to wrk, answered or not. */
  readonly sent: number;
  /** Mean body of an answer in bytes; null if answers were not inspected. */
  readonly meanBodyBytes: number | null;
  readonly failures: Failures;
}

/** Field names of the line that load.lua prints. */
interface WrkLine {
  readonly requests: number;
  readonly duration_us: number;
  readonly mean_us: number;
  readonly percentiles_us: readonly number[];
  readonly connect_errors: number;
  readonly read_errors: number;
  readonly write_errors: number;
  readonly timeouts: number;
  readonly statuses_from_400: number;
  readonly sent: number;
  readonly checked: number;
  readonly checked_body_bytes: number;
  readonly refused: number;
  readonly first_status: number;
  readonly first_body: string;
}

/** Throws if the output has no report, with the output: wrk says there why it did not run. */
export function parseWrkReport(output: string): WrkReport {
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  if (!last.startsWith("{")) throw new Error(`wrk gave no report: ${output.trim()}`);
  const line = JSON.parse(last) as WrkLine;
  if (line.percentiles_us.length !== PERCENTILES.length) throw new Error("wrk reported other percentiles than asked");
  return {
    answered: line.requests,
    seconds: line.duration_us / 1_000_000,
    latency: {
      count: line.requests,
      meanMs: line.mean_us / 1000,
      percentilesMs: line.percentiles_us.map((us) => us / 1000),
    },
    sent: line.sent,
    meanBodyBytes: line.checked === 0 ? null : line.checked_body_bytes / line.checked,
    failures: failuresOf(line),
  };
}

function failuresOf(line: WrkLine): Failures {
  const { connect_errors: connect, read_errors: read, write_errors: write } = line;
  const broken = connect + read + write;
  return {
    statuses: statusesOf(line),
    // Each byte was sent as one character.
    firstBody: Buffer.from(line.first_body, "latin1").toString("utf8"),
    brokenConnections: broken,
    firstBreak: broken === 0 ? "" : `${connect} not opened, ${read} while reading, ${write} while writing`,
    unanswered: line.timeouts,
  };
}

/** An inspected run knows the first status that was not 200; any other knows how many were 400 and above. */
function statusesOf(line: WrkLine): Record<string, number> {
  if (line.refused > 0) return { [`other than 200, the first ${line.first_status}`]: line.refused };
  return line.statuses_from_400 > 0 ? { "400 and above": line.statuses_from_400 } : {};
}
