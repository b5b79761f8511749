/**
 * The operator's side of the server (docs/operations.md): liveness, readiness, metrics, operations and a page on a
 * listener of their own, which is there before the first organization is opened and until the last one is closed.
 *
 * The files of the operator's page, served on the admin listener as the other page is on the public port.
 */
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { type WebPage, webFileReply } from "../edge/pages/web-page.ts";
import type { Log } from "../log/log.ts";
import { Access, adminKeyName } from "../operate/admin/access.ts";
import { dropDeadLettersOperation, retryDeadLettersOperation } from "../operate/admin/dead-letter-operations.ts";
import { type Exposition, expositionOf } from "../operate/admin/exposition.ts";
import {
  type AdminAddress,
  AdminAddressUnusable,
  AdminListener,
  type AdminReply,
  type AdminRoute,
  json,
  send,
} from "../operate/admin/listener.ts";
import { AdminFailure, type AdminOperation } from "../operate/admin/operation.ts";
import { describeOperations, operationRoutes } from "../operate/admin/operation-routes.ts";
import { adminOperations } from "../operate/admin/operations.ts";
import { type AdminPage, pageRoutes } from "../operate/admin/page-routes.ts";
import { PageSessions } from "../operate/admin/page-sessions.ts";
import type { AdminPorts } from "../operate/admin/ports.ts";
import { ProcessWatch } from "../operate/admin/process-watch.ts";
import { LiveFigures } from "../operate/live-figures.ts";
import { type MetricSources, metricFamilies } from "../operate/metric-families.ts";
import type { Clock } from "../runtime/clock.ts";
import { BadConfig } from "./config.ts";

type WebFile = WebPage["index"];

/** @param page null if it is not built */
export function adminPageOf(page: WebPage | null): AdminPage | null {
  if (page === null) return null;
  return {
    document: (headers) => replyOf(page.index, "document", headers),
    asset(name, headers) {
      const file = page.assets.get(name);
      return file === undefined ? null : replyOf(file, "asset", headers);
    },
  };
}

function replyOf(file: WebFile, kept: "document" | "asset", headers: IncomingHttpHeaders): AdminReply {
  const reply = webFileReply(file, kept, {
    ifNoneMatch: headers["if-none-match"] ?? "",
    acceptEncoding: String(headers["accept-encoding"] ?? ""),
  });
  // Programs get something else at the same path.
  const vary = ["Vary", "Accept, Accept-Encoding"] as const;
  return {
    status: reply.status,
    contentType: reply.contentType ?? file.contentType,
    body: reply.body,
    headers: [...(reply.headers ?? []), vary],
  };
}

export interface AdministrationOptions {
  readonly address: AdminAddress;
  /** Names under which the listener is called, besides that in its address. */
  readonly hosts: readonly string[];
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
  /** null: it is not built. */
  readonly page: AdminPage | null;
  readonly reportBug: (error: unknown) => void;
}

type Phase =
  | { readonly kind: "starting" | "standby" }
  | { readonly kind: "serving"; readonly shown: StartLines; readonly ports: AdminPorts }
  | { readonly kind: "draining"; readonly shown: StartLines };

interface StartLines {
  readonly exposition: Exposition;
  readonly live: LiveFigures;
}

/** After the last reading of /metrics, the delay of the event loop is measured for so long. */
const readAgainMsMax = 5 * 60_000;

/** A session in a browser can do no more than these. */
const pageOperations: ReadonlySet<AdminOperation> = new Set([retryDeadLettersOperation, dropDeadLettersOperation]);

/** Why the server does not want traffic. */
const unready = {
  starting: "the server is starting",
  standby: "another node of the cluster owns the organizations, or this one is about to",
  draining: "the server is stopping",
  readOnly: "changes are rejected: the disk is nearly full, or the quota is used up",
} as const;

export class Administration {
  readonly #listener: AdminListener;
  readonly #clock: Clock;
  readonly #watch: ProcessWatch;
  #phase: Phase = { kind: "starting" };

  private constructor({ address, hosts, clock, log, page, reportBug }: AdministrationOptions) {
    this.#clock = clock;
    this.#watch = new ProcessWatch((milliseconds, callback) => clock.after(milliseconds, callback), readAgainMsMax);
    const sessions = new PageSessions(() => clock.monotonic());
    const access = new Access(sessions, address.kind === "tcp" ? [...hosts, address.host.toLowerCase()] : hosts);
    const ports = () => this.#ports();
    const routes = [
      ...this.#routes(),
      ...pageRoutes({
        page,
        access,
        sessions,
        description: describeOperations(adminOperations),
        live: () => this.#live(),
        ports,
        onFailedLogin: (address) => log.warn({ address }, "failed login to administration: wrong key"),
        reportBug,
      }),
      ...operationRoutes({ operations: adminOperations, forPage: pageOperations, ports, reportBug }),
    ];
    this.#listener = new AdminListener(routes, access, reportBug);
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
    const unready = () => this.#unready();
    const live = new LiveFigures({ sources: { ...sources, watch: this.#watch }, clock: this.#clock, unready });
    this.#phase = { kind: "serving", shown: { exposition, live }, ports };
  }

  /** Called about each second. */
  eachSecond(): void {
    if ("shown" in this.#phase) this.#phase.shown.live.sampleIfDue();
  }

  #live(): LiveFigures {
    const phase = this.#phase;
    if ("shown" in phase) return phase.shown.live;
    throw new AdminFailure("busy", `${unready[phase.kind]}: try again`);
  }

  #ports(): AdminPorts {
    const phase = this.#phase;
    if (phase.kind === "serving") return phase.ports;
    throw new AdminFailure("busy", `${unready[phase.kind]}: try again`);
  }

  draining(): void {
    if (this.#phase.kind === "serving") this.#phase = { kind: "draining", shown: this.#phase.shown };
  }

  async close(): Promise<void> {
    this.#watch.end();
    if ("shown" in this.#phase) this.#phase.shown.live.end();
    await this.#listener.close();
  }

  #routes(): AdminRoute[] {
    return [
      {
        method: "GET",
        path: "/healthz",
        audience: "everybody",
        serve: async (_request, response) => send(response, json(200, { status: "ok" })),
      },
      {
        method: "GET",
        path: "/readyz",
        audience: "everybody",
        serve: async (_request, response) => {
          const why = this.#unready();
          send(response, why === null ? json(200, { status: "ready" }) : json(503, { status: "unready", why }));
        },
      },
      {
        method: "GET",
        path: "/metrics",
        audience: "everybody",
        serve: async (_request, response) => {
          const phase = this.#phase;
          if (!("shown" in phase)) {
            send(response, json(503, { status: "unready", why: unready[phase.kind] }));
            return;
          }
          this.#watch.begin();
          send(response, { status: 200, ...(await phase.shown.exposition.read()) });
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
