/**
 * The operator's side of the server (docs/operations.md): liveness, readiness, metrics and operations on a listener of
 * their own, which is there before the first organization is opened and until the last one is closed.
 */
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Exposition, expositionOf } from "./admin/exposition.ts";
import {
  type AdminAddress,
  AdminAddressUnusable,
  AdminListener,
  type AdminRoute,
  adminKeyName,
  json,
  send,
} from "./admin/listener.ts";
import { AdminFailure } from "./admin/operation.ts";
import { operationRoutes } from "./admin/operation-routes.ts";
import { adminOperations } from "./admin/operations.ts";
import type { AdminPorts } from "./admin/ports.ts";
import { ProcessWatch } from "./admin/process-watch.ts";
import { BadConfig } from "./config.ts";
import type { Log } from "./log.ts";
import { type MetricSources, metricFamilies } from "./metric-families.ts";
import type { Clock } from "./runtime/clock.ts";

export interface AdministrationOptions {
  readonly address: AdminAddress;
  readonly dataDir: string;
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  readonly reportBug: (error: unknown) => void;
}

type Phase =
  | { readonly kind: "starting" | "standby" }
  | { readonly kind: "serving"; readonly exposition: Exposition; readonly ports: AdminPorts }
  | { readonly kind: "draining"; readonly exposition: Exposition };

/** Why the server does not want traffic. */
const unready = {
  starting: "the server is starting",
  standby: "another node of the cluster owns the organizations, or this one is about to",
  draining: "the server is stopping",
  readOnly: "changes are rejected: the disk is nearly full, or the quota is used up",
} as const;

export class Administration {
  readonly #listener: AdminListener;
  readonly #watch: ProcessWatch;
  #phase: Phase = { kind: "starting" };

  private constructor({ clock, reportBug }: AdministrationOptions) {
    this.#watch = new ProcessWatch((milliseconds, callback) => clock.after(milliseconds, callback));
    const operations = operationRoutes({ operations: adminOperations, ports: () => this.#ports(), reportBug });
    this.#listener = new AdminListener([...this.#routes(), ...operations], reportBug);
  }

  /** @throws BadConfig when ADMIN_LISTEN cannot be used; a default socket that cannot be opened is only logged */
  static async open(options: AdministrationOptions): Promise<Administration> {
    const administration = new Administration(options);
    const { address, dataDir, log } = options;
    try {
      const where = await administration.#listener.listen(address, dataDir, () => makeKey(dataDir));
      if (where !== null) log.info({ at: where }, "administration");
    } catch (error) {
      if (!(error instanceof AdminAddressUnusable)) throw error;
      if (address.kind !== "socket" || address.path !== null) throw new BadConfig(`ADMIN_LISTEN: ${error.message}`);
      log.warn(error.message);
    }
    return administration;
  }

  standby(): void {
    this.#phase = { kind: "standby" };
  }

  serving(sources: Omit<MetricSources, "watch">, ports: AdminPorts): void {
    const exposition = expositionOf(metricFamilies({ ...sources, watch: this.#watch }));
    this.#phase = { kind: "serving", exposition, ports };
  }

  #ports(): AdminPorts {
    const phase = this.#phase;
    if (phase.kind === "serving") return phase.ports;
    throw new AdminFailure("busy", `${unready[phase.kind]}: try again`);
  }

  draining(): void {
    if (this.#phase.kind === "serving") this.#phase = { kind: "draining", exposition: this.#phase.exposition };
  }

  async close(): Promise<void> {
    this.#watch.end();
    await this.#listener.close();
  }

  #routes(): AdminRoute[] {
    return [
      {
        method: "GET",
        path: "/healthz",
        serve: async (_request, response) => send(response, json(200, { status: "ok" })),
      },
      {
        method: "GET",
        path: "/readyz",
        serve: async (_request, response) => {
          const why = this.#unready();
          send(response, why === null ? json(200, { status: "ready" }) : json(503, { status: "unready", why }));
        },
      },
      {
        method: "GET",
        path: "/metrics",
        serve: async (_request, response) => {
          const phase = this.#phase;
          if (!("exposition" in phase)) {
            send(response, json(503, { status: "unready", why: unready[phase.kind] }));
            return;
          }
          this.#watch.begin();
          send(response, { status: 200, ...(await phase.exposition.read()) });
        },
      },
    ];
  }

  #unready(): string | null {
    const phase = this.#phase;
    if (phase.kind !== "serving") return unready[phase.kind];
    return phase.ports.acceptsWrites() ? null : unready.readOnly;
  }
}

/** A new one for each process: a copy of the data folder does not open this server. */
function makeKey(dataDir: string): string {
  const key = randomBytes(24).toString("base64url");
  const file = join(dataDir, adminKeyName);
  rmSync(file, { force: true });
  writeFileSync(file, `${key}\n`, { mode: 0o600, flag: "wx" });
  return key;
}
