// `settings` turns a boolean on and off, `status` sets a different text each time: durable changes of one user's data.
// Every connection has its own user, so that each request changes something. The baseline parses the form and stores a
// row as long as a user's, with the same durability (bench/baselines/send.ts).

import { Api, type User } from "../lib/api.ts";
import { buildRequest, MARKER } from "../lib/http-request.ts";
import type { Cycle } from "../lib/job.ts";
import type { Outcome } from "../lib/result.ts";
import type { Context, Scenario } from "../lib/scenario.ts";
import type { Server } from "../lib/target.ts";
import { threePhases } from "./three-phases.ts";

interface PersonalChange {
  readonly name: string;
  readonly method: "POST" | "PATCH";
  readonly path: string;
  /** Sent in turn. Each must differ from the previous one, so that it changes something. */
  readonly forms: readonly Readonly<Record<string, string>>[];
  /** The type of event that announces a change. */
  readonly eventType: string;
}

function personalScenario(change: PersonalChange): Scenario {
  const { name, method, path } = change;
  return {
    name,
    summary: `durable ${method} ${path} of many users: throughput, latency at a fixed rate, one client alone`,
    baseline: "baselines/send",
    supportsUrl: true,
    sizes: {
      tiny: { ...common, connections: 4, ratePerSecond: 50, durationSeconds: 0.3, warmupSeconds: 0.1, runs: 1 },
      small: { ...common, connections: 32, ratePerSecond: 500, durationSeconds: 2, warmupSeconds: 1, runs: 2 },
      full: { ...common, connections: 256, ratePerSecond: 2_000, durationSeconds: 10, warmupSeconds: 3, runs: 5 },
    },
    run: (context) => run(context, change),
  };
}

const common = { users: 0, receivers: 0 } as const;

export const settings = personalScenario({
  name: "settings",
  method: "PATCH",
  path: "/settings",
  forms: [{ twenty_four_hour_time: "true" }, { twenty_four_hour_time: "false" }],
  eventType: "user_settings",
});

export const status = personalScenario({
  name: "status",
  method: "POST",
  path: "/users/me/status",
  forms: [{ status_text: `${MARKER} in a meeting` }],
  eventType: "user_status",
});

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

/**
 * Guards against a fast server that answers 200 without changing anything: in the end the first user's queue must have
 * events.
 */
async function watch(api: Api, people: readonly User[], { eventType }: PersonalChange) {
  const [first] = people;
  if (first === undefined) throw new Error("this scenario needs a connection");
  const types = JSON.stringify([eventType]);
  // Capabilities of current clients, which receive changes of settings in one form only.
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
