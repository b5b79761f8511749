/**
 * The report of a node about itself (cli cluster status): the organizations that it serves, and how far its stores are.
 */
import type { Nats } from "./connection.ts";

export interface NodeReport {
  readonly node: string;
  /** The process. */
  readonly instance: string;
  readonly address: string;
  /** It has read every stream to its end since its start. */
  readonly isReady: boolean;
  /** The last turn of each organization that it has, and whether it serves it. */
  readonly realms: readonly (readonly [id: number, turn: number, isServed: boolean])[];
}

const subject = "colloquy.report";

/** @returns ends the answers */
export function answerReports(nats: Nats, report: () => NodeReport): () => void {
  const subscription = nats.connection.subscribe(subject, {
    callback: (error, message) => {
      if (error === null) message.respond(JSON.stringify(report()));
    },
  });
  return () => subscription.unsubscribe();
}

/**
 * All nodes that answer in this time, in the order of their names.
 * @param untilNode with its answer the wait ends
 */
export async function askReports(nats: Nats, milliseconds: number, untilNode?: string): Promise<readonly NodeReport[]> {
  const reports: NodeReport[] = [];
  try {
    const answers = await nats.connection.requestMany(subject, "", { strategy: "timer", maxWait: milliseconds });
    for await (const answer of answers) {
      const report = answer.json<NodeReport>();
      reports.push(report);
      if (report.node === untilNode) break;
    }
  } catch {
    // No node listens, or the connection is lost.
  }
  return reports.toSorted((a, b) => (a.node < b.node ? -1 : 1));
}
