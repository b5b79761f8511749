/** Summary of many runs: their coverage (every fault, every type of command) and their speed. */
import { eventTypes } from "../../schemas/events.ts";
import { commandTypes } from "./catalogue.ts";
import { type FaultKind, machineFaults, worldFaults } from "./fault-kinds.ts";
import type { Breakage } from "./machine.ts";
import { type RunResult, Simulation } from "./simulation.ts";
import type { Template } from "./template.ts";

/**
 * Commands that need not succeed: the first is made to throw here (M6); the next two occur only when a delivery report
 * throws, which none is made to do; the others are of operators, who do nothing here.
 */
const neverSucceeds: ReadonlySet<string> = new Set([
  "realm.create",
  "mail.abandon",
  "webhook.abandon",
  "dead-letter.retry",
  "dead-letter.drop",
  "user.set-role",
]);

/** All types that actors emit; `restart` is announced by the server. */
const emittedTypes = eventTypes.filter((type) => type !== "restart");

export class Campaign {
  readonly #template: Template;
  readonly #faults = new Map<FaultKind, number>();
  readonly #answers = new Map<string, number>();
  readonly #types = new Set<string>();
  readonly #eventTypes = new Set<string>();
  #runs = 0;
  #failed = 0;
  #commands = 0;
  #events = 0;
  #eventsCompared = 0;
  #facts = 0;
  #reads = 0;
  #crashes = 0;
  #ms = 0;
  #cpuMs = 0;

  constructor(template: Template) {
    this.#template = template;
  }

  async run(seed: number, steps: number, breakage: Breakage = {}): Promise<RunResult> {
    const folder = this.#template.copy();
    const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
    const result = await new Simulation({ folder, seed, steps, breakage }).run();
    this.#ms += performance.now() - startedAt;
    const used = process.cpuUsage(cpu);
    this.#cpuMs += (used.user + used.system) / 1000;
    this.#template.drop(folder);
    this.#note(result);
    return result;
  }

  #note(result: RunResult): void {
    this.#runs++;
    if (result.problem !== null) this.#failed++;
    this.#commands += result.commands;
    this.#events += result.events;
    this.#eventsCompared += result.eventsCompared;
    this.#facts += result.factsChecked;
    this.#reads += result.reads;
    this.#crashes += result.crashes;
    for (const type of result.types) this.#types.add(type);
    for (const type of result.eventTypes) this.#eventTypes.add(type);
    for (const [kind, count] of result.faults) this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + count);
    for (const [code, count] of result.answers) this.#answers.set(code, (this.#answers.get(code) ?? 0) + count);
  }

  /**
   * Types of commands that never ran, types of events that were never emitted, and kinds of faults that never occurred.
   * If there are any, the runs prove less than they claim.
   */
  get missing(): string[] {
    const commands = commandTypes.filter((type) => !neverSucceeds.has(type) && !this.#types.has(type));
    const events = emittedTypes.filter((type) => !this.#eventTypes.has(type));
    const faults = [...machineFaults, ...worldFaults].filter((kind) => !this.#faults.has(kind));
    return [...commands, ...events.map((type) => `event ${type}`), ...faults];
  }

  get answers(): ReadonlyMap<string, number> {
    return this.#answers;
  }

  get totals() {
    return {
      commands: this.#commands,
      events: this.#events,
      eventsCompared: this.#eventsCompared,
      facts: this.#facts,
      reads: this.#reads,
      crashes: this.#crashes,
    };
  }

  summary(): string {
    const perSecond = Math.round((this.#commands / this.#ms) * 1000);
    const perCpuSecond = Math.round((this.#commands / this.#cpuMs) * 1000);
    const list = (counts: ReadonlyMap<string, number>) =>
      [...counts].map(([name, count]) => `${name} ${count}`).join(", ");
    return [
      `${this.#runs} runs, ${this.#failed} failed; ${this.#commands} commands in ${Math.round(this.#ms / 1000)} s`,
      `(${perSecond} a second, ${perCpuSecond} a second of CPU), ${this.#crashes} crashes and restarts,`,
      `${this.#events} events read, ${this.#eventsCompared} of them by states that were compared, ${this.#facts} facts and ${this.#reads} reads compared`,
      `\nfaults: ${list(this.#faults)}\nanswers: ${list(this.#answers)}`,
      `\nnever occurred: ${this.missing.join(", ") || "nothing"}`,
    ].join(" ");
  }
}
