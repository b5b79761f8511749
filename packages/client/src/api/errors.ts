/** Generated from schemas/ by `npm run client:api`; do not edit. */
/** The codes of errors, and the HTTP status that each of them has. */
export interface ErrorCodes {
  /** The request violates a rule; `msg` names it. */
  BAD_REQUEST: 400;
  /** A required parameter is missing (`var_name`). */
  REQUEST_VARIABLE_MISSING: 400;
  /** A parameter has an invalid value (`var_name`, `bad_value`). */
  REQUEST_VARIABLE_INVALID: 400;
  /** Two names of the same parameter were sent (`var_name1`, `var_name2`). */
  REQUEST_CONFUSING_VAR: 400;
  /** Credentials are missing or malformed. */
  UNAUTHORIZED: 401;
  /** The API key does not belong to the account. */
  INVALID_API_KEY: 401;
  /** The email address or password is wrong. */
  AUTHENTICATION_FAILED: 401;
  /** The account is deactivated. */
  USER_DEACTIVATED: 401;
  /** A page of another site made the browser send the request with stored credentials. */
  CSRF_FAILED: 403;
  /** The organization is deactivated; all requests with credentials are rejected. */
  REALM_DEACTIVATED: 401;
  /** The operation requires a higher role. */
  UNAUTHORIZED_PRINCIPAL: 400;
  /** The caller is the last owner or the last user (`is_last_owner`, `entity`). */
  CANNOT_DEACTIVATE_LAST_USER: 400;
  /** The path or resource does not exist. */
  NOT_FOUND: 404;
  /** The path does not support this method (`allowed_methods`, header Allow). */
  METHOD_NOT_ALLOWED: 405;
  /** The body exceeds `body_bytes_max`, or a file exceeds its limit. */
  PAYLOAD_TOO_LARGE: 413;
  /** The file would exceed the quota of the organization or of its owner. */
  REALM_UPLOAD_QUOTA: 400;
  /** The expected current value in the request does not match (`field_name`, D16). */
  EXPECTATION_MISMATCH: 400;
  /** Only a system group may hold the permission (`setting_name`). */
  SYSTEM_GROUP_REQUIRED: 400;
  /** The user group holds permissions or is a subgroup of another group (`objections`). */
  CANNOT_DEACTIVATE_GROUP_IN_USE: 400;
  /** The channel name is in use (`channel_name`). */
  CHANNEL_ALREADY_EXISTS: 409;
  /** The channel does not exist for this caller (`stream` or `stream_id`). */
  STREAM_DOES_NOT_EXIST: 400;
  /** The sender may not mention everybody in a large channel. */
  STREAM_WILDCARD_MENTION_NOT_ALLOWED: 400;
  /** The sender may not mention everybody in a topic with many participants. */
  TOPIC_WILDCARD_MENTION_NOT_ALLOWED: 400;
  /** Only the newest messages of the topic may be moved (`first_message_id_allowed_to_move`, and how many of how many). */
  MOVE_MESSAGES_TIME_LIMIT_EXCEEDED: 400;
  /** Nobody was invited: invalid addresses (`errors`), or too many invitations in a day (`daily_limit_reached`). */
  INVITATION_FAILED: 400;
  /** The caller has already reacted with this emoji. */
  REACTION_ALREADY_EXISTS: 400;
  /** The caller has not reacted with this emoji. */
  REACTION_DOES_NOT_EXIST: 400;
  /** The caller has registered no device with this token. */
  INVALID_PUSH_DEVICE_TOKEN: 400;
  /** The caller has no device for encrypted notifications. */
  NO_ACTIVE_PUSH_DEVICE: 400;
  /** This server sends no mobile notifications. */
  PUSH_SERVICE_NOT_CONFIGURED: 400;
  /** The queue does not exist or belongs to another user; register again (`queue_id`). */
  BAD_EVENT_QUEUE_ID: 400;
  /** A narrow term is invalid (`desc`). */
  BAD_NARROW: 400;
  /** Too many requests; wait `retry-after` seconds. */
  RATE_LIMIT_HIT: 429;
  /** Disk space is low: reads continue, writes are rejected (M5). */
  STORE_REFUSES_WRITES: 503;
  /** The server is shutting down; repeat the request later. */
  SERVER_SHUTTING_DOWN: 503;
  /** A queue is full or memory is low; repeat the request after `Retry-After` seconds. */
  OVERLOADED: 503;
  /** The node of the cluster that serves the organization went away, or none is there; repeat the request under its `Idempotency-Key` after `Retry-After` seconds. */
  OWNER_UNREACHABLE: 503;
  /** A bug in the server. It was logged; the request had no effect. */
  INTERNAL_SERVER_ERROR: 500;
}

export type ErrorCode = keyof ErrorCodes;
