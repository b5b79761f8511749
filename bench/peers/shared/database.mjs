/**
 * The database of the Node peers, as in an ordinary chat application: tables with keys and the indexes that the queries
 * need, a pool, prepared statements. A post is one statement and therefore one commit, which PostgreSQL acknowledges
 * when it is on disk (synchronous_commit on).
 */
import { createHash, randomBytes } from "node:crypto";

/** Connections to the database, the same for all peers; twice the default of `pg`. */
const POOL_SIZE = 20;
const PAGE_MESSAGES_MAX = 100;

const SCHEMA = `
  CREATE TABLE users (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    key_hash bytea NOT NULL UNIQUE
  );
  CREATE TABLE channels (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
  );
  CREATE TABLE memberships (
    channel_id bigint NOT NULL REFERENCES channels,
    user_id bigint NOT NULL REFERENCES users,
    PRIMARY KEY (channel_id, user_id)
  );
  CREATE INDEX memberships_user ON memberships (user_id);
  CREATE TABLE messages (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel_id bigint NOT NULL REFERENCES channels,
    sender_id bigint NOT NULL REFERENCES users,
    topic text NOT NULL,
    content text NOT NULL,
    sent_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX messages_topic ON messages (channel_id, topic, id);
`;

/** Authentication, permission and the row in one round trip. No row means that authentication or permission failed. */
const INSERT = `
  WITH caller AS (SELECT id, name FROM users WHERE key_hash = $1)
  INSERT INTO messages (channel_id, sender_id, topic, content)
  SELECT membership.channel_id, caller.id, $3, $4
  FROM caller JOIN memberships AS membership ON membership.user_id = caller.id AND membership.channel_id = $2
  RETURNING id, sender_id, sent_at, (SELECT name FROM caller) AS sender_name
`;
const CHANNELS_OF = `
  SELECT users.id AS user_id, channel_id FROM users LEFT JOIN memberships ON memberships.user_id = users.id WHERE key_hash = $1
`;
const NEWEST = `
  SELECT messages.id, sender_id, topic, content, sent_at FROM messages
  JOIN memberships USING (channel_id) JOIN users ON users.id = memberships.user_id
  WHERE messages.channel_id = $2 AND users.key_hash = $1 ORDER BY messages.id DESC LIMIT $3
`;

const hashOf = (key) => createHash("sha256").update(key).digest();

/**
 * @param {typeof import("pg")} pg the peer's own
 * @returns the queries of a peer; `channelsOf` is null for an unknown key
 */
export function openDatabase(pg) {
  const pool = new pg.Pool({ max: POOL_SIZE });
  const ask = async (name, text, values) => (await pool.query({ name, text, values })).rows;
  const channelsOf = async (key) => {
    const rows = await ask("channels-of", CHANNELS_OF, [hashOf(key)]);
    return rows.length === 0 ? null : rows.flatMap((row) => (row.channel_id === null ? [] : [Number(row.channel_id)]));
  };
  return {
    channelsOf,
    /** Stores the message. @returns status 200 with the event for its receivers, or 401 or 403 */
    async post(key, channelId, topic, content) {
      const [row] = await ask("insert", INSERT, [hashOf(key), channelId, topic, content]);
      if (row === undefined) return { status: (await channelsOf(key)) === null ? 401 : 403 };
      const message = {
        id: Number(row.id),
        channelId,
        topic,
        content,
        senderId: Number(row.sender_id),
        senderName: row.sender_name,
        sentAt: row.sent_at,
      };
      return { status: 200, message };
    },
    /** The newest messages of a channel in which the caller is a member, newest first. */
    newest: (key, channelId, limit) =>
      ask("newest", NEWEST, [hashOf(key), channelId, Math.min(limit, PAGE_MESSAGES_MAX)]),
    /** Creates tables, accounts and one channel with all of them. @returns the channel's id and the accounts' keys */
    async createAccounts(accounts) {
      await pool.query(SCHEMA);
      const { rows } = await pool.query("INSERT INTO channels (name) VALUES ('bench') RETURNING id");
      const channelId = Number(rows[0].id);
      const keys = Array.from({ length: accounts }, () => randomBytes(24).toString("base64url"));
      for (const [index, key] of keys.entries()) {
        const user = await pool.query("INSERT INTO users (name, key_hash) VALUES ($1, $2) RETURNING id", [
          `Bench ${index}`,
          hashOf(key),
        ]);
        await pool.query("INSERT INTO memberships (channel_id, user_id) VALUES ($1, $2)", [channelId, user.rows[0].id]);
      }
      await pool.query("ANALYZE");
      return { channelId, keys };
    },
    close: () => pool.end(),
  };
}
