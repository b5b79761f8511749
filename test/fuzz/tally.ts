/** The results of one or several rounds. */

export interface Tally {
  sent: number;
  /** Successes per operation. */
  readonly succeeded: Map<string, number>;
  /** Responses per code. */
  readonly codes: Map<string, number>;
  /** One line each, with an input that can be sent again. */
  readonly faults: string[];
  /** Heap of a server after its round beyond what its data needs, in MiB. */
  readonly surplusMib: number[];
}

export function newTally(): Tally {
  return { sent: 0, succeeded: new Map(), codes: new Map(), faults: [], surplusMib: [] };
}

export function add(counts: Map<string, number>, name: string, more = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + more);
}

/** Adds a round to the total. */
export function include(total: Tally, round: Tally): void {
  total.sent += round.sent;
  for (const [name, count] of round.succeeded) add(total.succeeded, name, count);
  for (const [name, count] of round.codes) add(total.codes, name, count);
  total.faults.push(...round.faults);
  total.surplusMib.push(...round.surplusMib);
}

/** One line, for another process. */
export function printed(tally: Tally): string {
  return JSON.stringify({ ...tally, succeeded: [...tally.succeeded], codes: [...tally.codes] });
}

export function readTally(line: string): Tally {
  const { succeeded, codes, ...rest } = JSON.parse(line);
  return { ...rest, succeeded: new Map(succeeded), codes: new Map(codes) };
}
