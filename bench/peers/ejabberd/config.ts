// The configuration of ejabberd: one virtual host with its own accounts, group chat for members only with an archive,
// and nothing else that costs time. Each setting that differs from the package's default has its reason next to it.

import type { Database } from "../postgres.ts";

export const HOST = "127.0.0.1";
export const XMPP_HOST = "bench.example.com";
export const ROOMS_HOST = `rooms.${XMPP_HOST}`;
/** Tables of the package. */
export const SCHEMA_FILE = "/usr/share/ejabberd/sql/pg.sql";

const SESSIONS_PER_ACCOUNT_MAX = 1_000;
const OCCUPANTS_MAX = 60_000;
/** As many as in the other peers' pools. */
const POOL_SIZE = 20;

/** The configuration, as data. */
export function configOf(options: {
  readonly port: number;
  readonly databasePort: number;
  readonly database: Database;
}) {
  const { port, databasePort, database } = options;
  return {
    hosts: [XMPP_HOST],
    loglevel: "warning",
    listen: [
      {
        port,
        ip: HOST,
        module: "ejabberd_http",
        request_handlers: { "/ws": "ejabberd_http_ws", "/api": "mod_http_api" },
      },
    ],
    api_permissions: { bench: { from: ["mod_http_api"], who: [{ ip: `${HOST}/8` }], what: ["*"] } },
    auth_method: ["internal"],
    // Ten by default: here many sockets share an account, as many as on this server.
    shaper_rules: { max_user_sessions: SESSIONS_PER_ACCOUNT_MAX },
    sql_type: "pgsql",
    sql_server: HOST,
    sql_port: databasePort,
    sql_database: database.environment["PGDATABASE"],
    sql_username: database.environment["PGUSER"],
    sql_password: "",
    sql_pool_size: POOL_SIZE,
    modules: {
      mod_muc: {
        host: ROOMS_HOST,
        // SQL is used for the archive only; rooms themselves change rarely.
        db_type: "mnesia",
        max_users: OCCUPANTS_MAX,
        // Counted per account, over all of its sockets in all rooms; one hundred by default.
        max_user_conferences: OCCUPANTS_MAX,
        history_size: 0,
        default_room_options: {
          mam: true,
          persistent: true,
          members_only: true,
          max_users: OCCUPANTS_MAX,
          // No presence broadcasts: with a thousand occupants they would be a million stanzas before the first message.
          presence_broadcast: [],
        },
      },
      mod_muc_admin: {},
      mod_admin_extra: {},
      mod_http_api: {},
      // For rooms only, without an archive per user.
      mod_mam: { db_type: "sql", default: "never" },
    },
  };
}
