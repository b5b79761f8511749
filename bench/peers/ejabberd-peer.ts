// Peer "ejabberd": group chat (MUC) with its archive (MAM) in PostgreSQL, over XMPP on WebSocket. It is started without
// the ctl script, as a node without a name, so that it does not connect to other Erlang nodes, on its own folder and
// ports.

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Child } from "../lib/child.ts";
import { dialects } from "../lib/dialects.ts";
import { HANDSHAKE_WAIT_MS, START_WAIT_MS } from "../lib/limits.ts";
import { freePort } from "../lib/ports.ts";
import { texts } from "../lib/texts.ts";
import { WebSocketReceiver } from "../lib/websocket.ts";
import { roomOf, type XmppLogin, xmppPost } from "../lib/xmpp.ts";
import { configOf, HOST, ROOMS_HOST, SCHEMA_FILE, XMPP_HOST } from "./ejabberd/config.ts";
import type { Peer, PeerKind, PeerOptions } from "./peer.ts";
import { accountFor, type Database, postgresPrograms, startDatabase } from "./postgres.ts";

const PATH = "/ws";
const ACCOUNT = "ejabberd";
const PROBE_MS = 100;
/** Where Debian installs Erlang libraries; ERL_LIBS may name more. */
const LIBRARIES = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib/erlang/lib"];
/**
 * All accounts are members of the shared room; in `send` each sender has its own room, otherwise every post would go to
 * all of them.
 */
const ROOM = { shared: `bench@${ROOMS_HOST}`, own: `post*@${ROOMS_HOST}` } as const;

export const ejabberd: PeerKind = {
  name: "ejabberd",
  missing: () => {
    const packages = [
      ...(findLibrary("ejabberd") === null ? ["ejabberd"] : []),
      ...(findLibrary("p1_pgsql") === null ? ["erlang-p1-pgsql"] : []),
      ...(postgresPrograms() === null ? ["postgresql"] : []),
    ];
    return packages.length === 0 ? null : `apt-get install ${packages.join(" ")}`;
  },
  start,
};

async function start({ workspace, accounts, seed }: PeerOptions): Promise<Peer> {
  const startedAt = performance.now();
  const [port, databasePort] = [await freePort(), await freePort()];
  const database = await startDatabase(workspace, databasePort);
  const folder = workspace.makeFolder("ejabberd");
  const child = startNode(folder, configOf({ port, databasePort, database }), database);
  const logins = Array.from({ length: accounts }, (_, index) => ({
    host: XMPP_HOST,
    user: `bench${index}`,
    password: `password of ${index}`,
    room: ROOM.shared,
  }));
  try {
    await prepare(child, port, logins);
  } catch (error) {
    await child.stop();
    await database.stop();
    throw error;
  }
  const address = { host: HOST, port };
  /** The room of the last posts, whose archive is read in the end. */
  let room: string = ROOM.shared;
  const [owner] = logins;
  if (owner === undefined) throw new Error("a peer needs an account");
  return {
    label: "ejabberd",
    about: `ejabberd ${versionOf()} (MUC, MAM in PostgreSQL ${database.version} with fsync and synchronous_commit on)`,
    address,
    watch: { pid: child.pid, metricsFile: null, trees: [database.pid] },
    startMs: performance.now() - startedAt,
    death: () => child.death ?? database.death(),
    stop: async () => {
      const exit = await child.stop();
      const databaseExit = await database.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      return exit.code === 0 ? databaseExit : exit;
    },
    posts: (connections, hasReceivers) => {
      room = hasReceivers ? ROOM.shared : ROOM.own;
      const messages = texts(seed);
      const cycles = Array.from({ length: connections }, (_, index) => {
        const { topic = "", content = "" } = messages[index % messages.length] ?? {};
        return [xmppPost(roomOf(room, index), index, `${topic}: ${content}`)];
      });
      const authorizations = [JSON.stringify({ ...owner, room, nick: "poster" } satisfies XmppLogin)];
      return { cycles, postSockets: { dialect: "xmpp", path: PATH, authorizations } };
    },
    receivers: (count) => ({
      dialect: "xmpp",
      path: PATH,
      authorizations: logins.map((login) => JSON.stringify({ ...login, nick: "listener" } satisfies XmppLogin)),
      count,
      register: "",
      localAddresses: [],
    }),
    newestContent: () => readArchive(address, { ...owner, room, nick: "reader" }),
  };
}

function startNode(folder: string, config: unknown, database: Database): Child {
  const account = accountFor(ACCOUNT);
  const configFile = join(folder, "ejabberd.yml");
  const spool = join(folder, "spool");
  mkdirSync(spool);
  // JSON is a subset of YAML.
  writeFileSync(configFile, JSON.stringify(config, null, 2));
  if (account !== null) {
    for (const path of [folder, spool, configFile]) chownSync(path, account.uid, account.gid);
  }
  chmodSync(folder, 0o700);
  // The tables of the package.
  const filled = spawnSync(join(database.programs, "psql"), ["-q", "-v", "ON_ERROR_STOP=1", "-f", SCHEMA_FILE], {
    env: { ...process.env, ...database.environment },
    encoding: "utf8",
  });
  if (filled.status !== 0)
    throw new Error(`cannot create ejabberd's tables: ${filled.error?.message ?? filled.stderr}`);
  return new Child({
    command: "erl",
    // Kernel poll and enough processes for thousands of sockets, as in the package's own start script.
    arguments: ["+K", "true", "+P", "250000", "-noinput", "-mnesia", "dir", JSON.stringify(spool), "-s", "ejabberd"],
    folder,
    channel: false,
    account,
    environment: {
      HOME: folder,
      ERL_LIBS: libraryFolders().join(":"),
      EJABBERD_CONFIG_PATH: configFile,
      EJABBERD_LOG_PATH: join(folder, "ejabberd.log"),
      ERL_CRASH_DUMP_BYTES: "0",
    },
  });
}

/** Waits until it answers, then creates the accounts and the room of which they are members. */
async function prepare(child: Child, port: number, logins: readonly Omit<XmppLogin, "nick">[]): Promise<void> {
  const call = async (command: string, values: Readonly<Record<string, string>>): Promise<void> => {
    const response = await fetch(`http://${HOST}:${port}/api/${command}`, {
      method: "POST",
      body: JSON.stringify(values),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`ejabberd answered ${response.status} to ${command}: ${text}`);
  };
  for (const until = performance.now() + START_WAIT_MS; ; await wait(PROBE_MS)) {
    if (!child.running) throw new Error(`ejabberd exited while it started: ${child.output}`);
    const isReady = await call("status", {}).then(
      () => true,
      () => false,
    );
    if (isReady) break;
    if (performance.now() > until) throw new Error(`ejabberd was not ready in time: ${child.output}`);
  }
  const room = { name: "bench", service: ROOMS_HOST };
  await call("create_room", { ...room, host: XMPP_HOST });
  for (const [index, { user, password }] of logins.entries()) {
    await call("register", { user, host: XMPP_HOST, password });
    const affiliation = index === 0 ? "owner" : "member";
    await call("set_room_affiliation", { ...room, jid: `${user}@${XMPP_HOST}`, affiliation });
  }
}

/** The last message in the room's archive, requested as any client does (XEP-0313). */
function readArchive(address: Peer["address"], wanted: XmppLogin): Promise<string> {
  const login = { authorization: JSON.stringify(wanted), register: "", index: 0 };
  const query =
    `<iq xmlns="jabber:client" type="set" id="mam" to="${roomOf(wanted.room, 0)}"><query xmlns="urn:xmpp:mam:2">` +
    '<set xmlns="http://jabber.org/protocol/rsm"><max>1</max><before/></set></query></iq>';
  const { firstFrame, onLoginFrame, subprotocol } = dialects.xmpp;
  return new Promise((resolve, reject) => {
    let content = "";
    const timer = setTimeout(() => socket.destroy(), HANDSHAKE_WAIT_MS);
    const socket = new WebSocketReceiver(
      { address, path: PATH, authorization: null, subprotocol, localAddress: null },
      {
        onOpen: () => socket.sendText(firstFrame(login) ?? ""),
        onText: (bytes, from, to) => {
          const text = bytes.toString("utf8", from, to);
          if (text.includes("urn:xmpp:mam:2")) content = /<body>([^<]*)/.exec(text)?.[1] ?? content;
          if (/^<iq[^>]* id=["']mam/.test(text)) return socket.close();
          const step = onLoginFrame(text, login);
          if (step.kind === "say") socket.sendText(step.text);
          if (step.kind === "ready") socket.sendText(query);
        },
        onClose: (reason) => {
          clearTimeout(timer);
          if (content === "") reject(new Error(`ejabberd's archive could not be read: ${reason}`));
          else resolve(content);
        },
      },
    );
  });
}

function libraryFolders(): string[] {
  return [...(process.env["ERL_LIBS"] ?? "").split(":"), ...LIBRARIES].filter(
    (folder) => folder !== "" && existsSync(folder),
  );
}

/** The name and version of an Erlang library, as its folder is named; null if it is not installed. */
function findLibrary(name: string): string | null {
  const names = libraryFolders().flatMap((folder) => readdirSync(folder));
  return names.find((one) => one.startsWith(`${name}-`)) ?? null;
}

function versionOf(): string {
  return findLibrary("ejabberd")?.slice("ejabberd-".length) ?? "";
}
