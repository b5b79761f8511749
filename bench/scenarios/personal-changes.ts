// What `settings` and `status` share: durable changes of what is one person's. Every connection is a person of its own, so that
// each request changes something; the floor beside it parses the form and stores a row as long as a person's, same durability
// (bench/floors/send.ts).

import { Api, type User } from "../lib/api.ts";
import { buildRequest } from "../lib/http-request.ts";
import type { Cycle } from "../lib/job.ts";
import type { Outcome } from "../lib/result.ts";
import type { Context, Scenario } from "../lib/scenario.ts";
import type { Server } from "../lib/target.ts";
import { threePhases } from "./three-phases.ts";

export interface PersonalChange {
  readonly name: string;
  readonly method: "POST" | "PATCH";
  readonly path: string;
  /** Sent in turn; each must differ from what the one before it left. */
  readonly forms: readonly Readonly<Record<string, string>>[];
  /** The type of event that tells of a change. */
  readonly eventType: string;
}

export function personalScenario(change: PersonalChange): Scenario {
  const { name, method, path } = change;
  return {
    name,
    summary: `durable ${method} ${path} of many people: throughput, latency at a fixed rate, one client alone`,
    floor: "floors/send",
    worksOnUrl: true,
    sizes: {
      tiny: { ...common, connections: 4, ratePerSecond: 50, durationSeconds: 0.3, warmupSeconds: 0.1, runs: 1 },
      small: { ...common, connections: 32, ratePerSecond: 500, durationSeconds: 2, warmupSeconds: 1, runs: 2 },
      full: { ...common, connections: 256, ratePerSecond: 2_000, durationSeconds: 10, warmupSeconds: 3, runs: 5 },
    },
    run: (context) => run(context, change),
  };
}

const common = { users: 0, receivers: 0 } as const;

async function run(context: Context, change: PersonalChange): Promise<Outcome> {
  const { settings } = context;
  const server = await context.openServer();
  const api = new Api(server, server.credentials);
  const people = await api.createUsers(settings.connections, `${change.name}-${Date.now().toString(36)}`);
  const check = await watch(api, people, change);
  const cycles = people.map((person) => cycleOf(server, person, change));
  return threePhases(context, {
    name: change.name,
    prefix: "changes",
    noun: "change",
    senders: "people",
    server,
    cycles,
    check,
  });
}

function cycleOf(server: Server, person: User, { method, path, forms }: PersonalChange): Cycle {
  const host = `${server.address.host}:${server.address.port}`;
  const { authorization } = person;
  return forms.map((form) => buildRequest({ method, path: `/api/v1${path}`, authorization, form, host }));
}

/** A 200 that changed nothing would make a fast server: the first person's queue must have events in the end. */
async function watch(api: Api, people: readonly User[], { eventType }: PersonalChange) {
  const [first] = people;
  if (first === undefined) throw new Error("this scenario needs a connection");
  const types = JSON.stringify([eventType]);
  // What current clients declare: they take changes of settings in one form only.
  const capabilities = JSON.stringify({ notification_settings_null: true, user_settings_object: true });
  const registered = await api.callAs(first.authorization, "POST", "/register", {
    event_types: types,
    fetch_event_types: "[]",
    client_capabilities: capabilities,
  });
  const queue = JSON.parse(registered) as { readonly queue_id: string; readonly last_event_id: number };
  return async (): Promise<Outcome["checks"][number]> => {
    const text = await api.callAs(first.authorization, "GET", "/events", {
      queue_id: queue.queue_id,
      last_event_id: String(queue.last_event_id),
      dont_block: "true",
    });
    const { events } = JSON.parse(text) as { readonly events: readonly unknown[] };
    return { name: "the changes can be read back as events", ok: events.length > 1, detail: text.slice(0, 120) };
  };
}
