/**
 * The closed list of error codes (spec 7, decisions D1, D2), with HTTP status, meaning and the fields besides `code`
 * and `msg`. A refusal is a value, never an exception. Only `refuse` builds one, and no other code names error codes. A
 * test checks that the test suite has seen every code.
 */
import { type TProperties, Type } from "typebox";

const Text = Type.String();

export const errorCodes = {
  BAD_REQUEST: {
    status: 400,
    meaning: "The request violates a rule; `msg` names it.",
    fields: { parameters: Type.Optional(Text), empty_topic_display_name: Type.Optional(Text) },
  },
  REQUEST_VARIABLE_MISSING: {
    status: 400,
    meaning: "A required parameter is missing (`var_name`).",
    fields: { var_name: Text },
  },
  REQUEST_VARIABLE_INVALID: {
    status: 400,
    meaning: "A parameter has an invalid value (`var_name`, `bad_value`).",
    fields: { var_name: Text, bad_value: Text },
  },
  REQUEST_CONFUSING_VAR: {
    status: 400,
    meaning: "Two names of the same parameter were sent (`var_name1`, `var_name2`).",
    fields: { var_name1: Text, var_name2: Text },
  },
  UNAUTHORIZED: { status: 401, meaning: "Credentials are missing or malformed." },
  INVALID_API_KEY: { status: 401, meaning: "The API key does not belong to the account." },
  AUTHENTICATION_FAILED: { status: 401, meaning: "The email address or password is wrong." },
  USER_DEACTIVATED: { status: 401, meaning: "The account is deactivated." },
  CSRF_FAILED: {
    status: 403,
    meaning: "A page of another site made the browser send the request with stored credentials.",
  },
  REALM_DEACTIVATED: {
    status: 401,
    meaning: "The organization is deactivated; all requests with credentials are rejected.",
  },
  UNAUTHORIZED_PRINCIPAL: { status: 400, meaning: "The operation requires a higher role." },
  CANNOT_DEACTIVATE_LAST_USER: {
    status: 400,
    meaning: "The caller is the last owner or the last user (`is_last_owner`, `entity`).",
    fields: { is_last_owner: Type.Boolean(), entity: Type.Enum(["organization owner", "user"]) },
  },
  NOT_FOUND: { status: 404, meaning: "The path or resource does not exist." },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: "The path does not support this method (`allowed_methods`, header Allow).",
    fields: { allowed_methods: Type.Array(Text) },
  },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: "The body exceeds `body_bytes_max`, or a file exceeds its limit." },
  REALM_UPLOAD_QUOTA: { status: 400, meaning: "The file would exceed the quota of the organization or of its owner." },
  EXPECTATION_MISMATCH: {
    status: 400,
    meaning: "The expected current value in the request does not match (`field_name`, D16).",
    fields: { field_name: Text },
  },
  SYSTEM_GROUP_REQUIRED: {
    status: 400,
    meaning: "Only a system group may hold the permission (`setting_name`).",
    fields: { setting_name: Text },
  },
  CANNOT_DEACTIVATE_GROUP_IN_USE: {
    status: 400,
    meaning: "The user group holds permissions or is a subgroup of another group (`objections`).",
    fields: { objections: Type.Array(Type.Record(Type.String(), Type.Unknown())) },
  },
  CHANNEL_ALREADY_EXISTS: {
    status: 409,
    meaning: "The channel name is in use (`channel_name`).",
    fields: { channel_name: Text },
  },
  STREAM_DOES_NOT_EXIST: {
    status: 400,
    meaning: "The channel does not exist for this caller (`stream` or `stream_id`).",
    fields: { stream: Type.Optional(Text), stream_id: Type.Optional(Type.Integer()) },
  },
  STREAM_WILDCARD_MENTION_NOT_ALLOWED: {
    status: 400,
    meaning: "The sender may not mention everybody in a large channel.",
  },
  TOPIC_WILDCARD_MENTION_NOT_ALLOWED: {
    status: 400,
    meaning: "The sender may not mention everybody in a topic with many participants.",
  },
  MOVE_MESSAGES_TIME_LIMIT_EXCEEDED: {
    status: 400,
    meaning:
      "Only the newest messages of the topic may be moved (`first_message_id_allowed_to_move`, and how many of how many).",
    fields: {
      first_message_id_allowed_to_move: Type.Union([Type.Integer(), Type.Null()]),
      total_messages_allowed_to_move: Type.Integer(),
      total_messages_in_topic: Type.Integer(),
    },
  },
  INVITATION_FAILED: {
    status: 400,
    meaning:
      "Nobody was invited: invalid addresses (`errors`), or too many invitations in a day (`daily_limit_reached`).",
    fields: {
      /** Lists of the address, the problem, and whether the account is deactivated. */
      errors: Type.Array(Type.Array(Type.Union([Text, Type.Boolean()]), { minItems: 3, maxItems: 3 })),
      sent_invitations: Type.Literal(false),
      license_limit_reached: Type.Literal(false),
      daily_limit_reached: Type.Boolean(),
    },
  },
  REACTION_ALREADY_EXISTS: { status: 400, meaning: "The caller has already reacted with this emoji." },
  REACTION_DOES_NOT_EXIST: { status: 400, meaning: "The caller has not reacted with this emoji." },
  INVALID_PUSH_DEVICE_TOKEN: { status: 400, meaning: "The caller has registered no device with this token." },
  NO_ACTIVE_PUSH_DEVICE: { status: 400, meaning: "The caller has no device for encrypted notifications." },
  PUSH_SERVICE_NOT_CONFIGURED: { status: 400, meaning: "This server sends no mobile notifications." },
  BAD_EVENT_QUEUE_ID: {
    status: 400,
    meaning: "The queue does not exist or belongs to another user; register again (`queue_id`).",
    fields: { queue_id: Text },
  },
  BAD_NARROW: { status: 400, meaning: "A narrow term is invalid (`desc`).", fields: { desc: Text } },
  RATE_LIMIT_HIT: {
    status: 429,
    meaning: "Too many requests; wait `retry-after` seconds.",
    fields: { "retry-after": Type.Number() },
  },
  STORE_REFUSES_WRITES: { status: 503, meaning: "Disk space is low: reads continue, writes are rejected (M5)." },
  SERVER_SHUTTING_DOWN: { status: 503, meaning: "The server is shutting down; repeat the request later." },
  OVERLOADED: {
    status: 503,
    meaning: "A queue is full or memory is low; repeat the request after `Retry-After` seconds.",
  },
  OWNER_UNREACHABLE: {
    status: 503,
    meaning:
      "The node of the cluster that serves the organization went away, or none is there; repeat the request under its `Idempotency-Key` after `Retry-After` seconds.",
  },
  INTERNAL_SERVER_ERROR: { status: 500, meaning: "A bug in the server. It was logged; the request had no effect." },
} as const satisfies Readonly<Record<string, ErrorRow>>;

interface ErrorRow {
  readonly status: number;
  readonly meaning: string;
  readonly fields?: TProperties;
}

export type ErrorCode = keyof typeof errorCodes;

/** An expected outcome other than success. `fields` are keys besides `code` and `msg`. */
export interface Refusal {
  readonly kind: "refused";
  readonly code: ErrorCode;
  readonly msg: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Whether a result is a refusal: results of other kinds may be any value. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "refused";
}

function refusal(code: ErrorCode, msg: string, fields?: Readonly<Record<string, unknown>>): Refusal {
  return fields === undefined ? { kind: "refused", code, msg } : { kind: "refused", code, msg, fields };
}

const nothingSent = { sent_invitations: false, license_limit_reached: false } as const;

/** All refusals by name; messages as in spec 7, otherwise as in the public API. */
export const refuse = {
  badRequest: (msg: string) => refusal("BAD_REQUEST", msg),
  missing: (name: string) => refusal("REQUEST_VARIABLE_MISSING", `Missing '${name}' argument`, { var_name: name }),
  invalidValue: (name: string, value: string) =>
    refusal("REQUEST_VARIABLE_INVALID", `Bad value for '${name}': ${value}`, { var_name: name, bad_value: value }),
  confusing: (first: string, second: string) =>
    refusal("REQUEST_CONFUSING_VAR", `Can't decide between '${first}' and '${second}' arguments`, {
      var_name1: first,
      var_name2: second,
    }),
  notLoggedIn: () => refusal("UNAUTHORIZED", "Not logged in: API authentication or user session required"),
  malformedAuthorization: () => refusal("UNAUTHORIZED", "Invalid authorization header for basic auth"),
  notForIncomingWebhooks: () => refusal("UNAUTHORIZED", "This API is not available to incoming webhook bots."),
  basicRequired: () => refusal("UNAUTHORIZED", "This endpoint requires HTTP basic authentication."),
  invalidApiKey: () => refusal("INVALID_API_KEY", "Invalid API key"),
  authenticationFailed: () => refusal("AUTHENTICATION_FAILED", "Your username or password is incorrect"),
  userDeactivated: () => refusal("USER_DEACTIVATED", "Account is deactivated"),
  realmDeactivated: () => refusal("REALM_DEACTIVATED", "This organization has been deactivated"),
  administratorRequired: () => refusal("UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator"),
  ownerRequired: () => refusal("UNAUTHORIZED_PRINCIPAL", "Must be an organization owner"),
  guestsNotAllowed: () => refusal("BAD_REQUEST", "Not allowed for guest users"),
  botsNotAllowed: () => refusal("BAD_REQUEST", "This endpoint does not accept bot requests."),
  insufficientPermission: () => refusal("BAD_REQUEST", "Insufficient permission"),
  notFound: (msg = "Invalid URL") => refusal("NOT_FOUND", msg),
  methodNotAllowed: (allowed: readonly string[]) =>
    refusal("METHOD_NOT_ALLOWED", "Method Not Allowed", { allowed_methods: allowed }),
  bodyTooLarge: (bytesMax: number) => refusal("PAYLOAD_TOO_LARGE", `The request body is over ${bytesMax} bytes`),
  fileTooLarge: (bytesMax: number) =>
    refusal(
      "PAYLOAD_TOO_LARGE",
      `Uploaded file is larger than the allowed limit of ${Math.floor(bytesMax / (1024 * 1024))} MiB`,
    ),
  channelAlreadyExists: (name: string) =>
    refusal("CHANNEL_ALREADY_EXISTS", `Channel '${name}' already exists`, { channel_name: name }),
  channelNameUnknown: (name: string) =>
    refusal("STREAM_DOES_NOT_EXIST", `Channel '${name}' does not exist`, { stream: name }),
  channelIdUnknown: (id: number) =>
    refusal("STREAM_DOES_NOT_EXIST", `Channel with ID '${id}' does not exist`, { stream_id: id }),
  namedTopicsInChannel: (name: string) =>
    refusal(
      "BAD_REQUEST",
      `To enable this configuration, all messages in this channel must be in the ${name} topic. Consider renaming or deleting other topics.`,
      { empty_topic_display_name: name },
    ),
  invalidChannelId: () => refusal("BAD_REQUEST", "Invalid channel ID"),
  invalidChannelName: (name: string) => refusal("BAD_REQUEST", `Invalid channel name '${name}'`),
  invalidMessage: () => refusal("BAD_REQUEST", "Invalid message(s)"),
  expectationMismatch: (fieldName: string) =>
    refusal("EXPECTATION_MISMATCH", `'${fieldName}' value does not match the expected value.`, {
      field_name: fieldName,
    }),
  systemGroupRequired: (settingName: string) =>
    refusal("SYSTEM_GROUP_REQUIRED", `'${settingName}' must be a system user group.`, { setting_name: settingName }),
  groupInUse: (objections: readonly Readonly<Record<string, unknown>>[]) =>
    refusal("CANNOT_DEACTIVATE_GROUP_IN_USE", "Cannot deactivate user group in use.", { objections }),
  invalidUserGroup: () => refusal("BAD_REQUEST", "Invalid user group"),
  parameterCombination: (names: readonly string[]) =>
    refusal("BAD_REQUEST", `Unsupported parameter combination: ${names.join(", ")}`, { parameters: names.join(", ") }),
  emptyTopicNotAllowed: (name: string) =>
    refusal("BAD_REQUEST", `Sending messages to the ${name} is not allowed in this channel.`, {
      empty_topic_display_name: name,
    }),
  onlyEmptyTopicAllowed: (name: string) =>
    refusal("BAD_REQUEST", `Only the ${name} topic is allowed in this channel.`, { empty_topic_display_name: name }),
  cannotDeactivateLastUser: (isLastOwner: boolean) => {
    const entity = isLastOwner ? "organization owner" : "user";
    return refusal("CANNOT_DEACTIVATE_LAST_USER", `Cannot deactivate the only ${entity}`, {
      is_last_owner: isLastOwner,
      entity,
    });
  },
  deliveryNotInFuture: () => refusal("BAD_REQUEST", "Scheduled delivery time must be in the future."),
  draftsNotKept: () => refusal("BAD_REQUEST", "User has disabled synchronizing drafts."),
  noSuchUser: () => refusal("BAD_REQUEST", "No such user"),
  channelWildcardNotAllowed: () =>
    refusal(
      "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
      "You do not have permission to use channel wildcard mentions in this channel.",
    ),
  topicWildcardNotAllowed: () =>
    refusal(
      "TOPIC_WILDCARD_MENTION_NOT_ALLOWED",
      "You do not have permission to use topic wildcard mentions in this topic.",
    ),
  moveTimeLimitExceeded: (firstId: number | null, allowed: number, total: number) =>
    refusal(
      "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
      `You only have permission to move the ${allowed}/${total} most recent messages in this topic.`,
      {
        first_message_id_allowed_to_move: firstId,
        total_messages_allowed_to_move: allowed,
        total_messages_in_topic: total,
      },
    ),
  /** @param errors per address: the address, the problem, and whether the account is deactivated */
  invitationFailed: (msg: string, errors: readonly (readonly [string, string, boolean])[]) =>
    refusal("INVITATION_FAILED", msg, { errors, ...nothingSent, daily_limit_reached: false }),
  invitationLimitReached: () =>
    refusal("INVITATION_FAILED", "You have reached the limit of invitations for one day. No invites were sent.", {
      errors: [],
      ...nothingSent,
      daily_limit_reached: true,
    }),
  reactionAlreadyExists: () => refusal("REACTION_ALREADY_EXISTS", "Reaction already exists."),
  reactionDoesNotExist: () => refusal("REACTION_DOES_NOT_EXIST", "Reaction doesn't exist."),
  pushTokenUnknown: () => refusal("INVALID_PUSH_DEVICE_TOKEN", "Device not recognized"),
  noActivePushDevice: () => refusal("NO_ACTIVE_PUSH_DEVICE", "No active registered push device"),
  pushNotConfigured: () =>
    refusal("PUSH_SERVICE_NOT_CONFIGURED", "Server is not configured to use push notification service."),
  badEventQueueId: (queueId: string) =>
    refusal("BAD_EVENT_QUEUE_ID", `Bad event queue ID: ${queueId}`, { queue_id: queueId }),
  realmUploadQuota: () => refusal("REALM_UPLOAD_QUOTA", "Upload would exceed your organization's upload quota."),
  personUploadQuota: () => refusal("REALM_UPLOAD_QUOTA", "Upload would exceed your own upload quota."),
  badNarrow: (desc: string) => refusal("BAD_NARROW", `Invalid narrow operator: ${desc}`, { desc }),
  rateLimitHit: (retryAfterS: number) =>
    refusal("RATE_LIMIT_HIT", "API usage exceeded rate limit", { "retry-after": retryAfterS }),
  storeRefusesWrites: () =>
    refusal("STORE_REFUSES_WRITES", "The server is out of disk space and does not accept changes"),
  shuttingDown: () => refusal("SERVER_SHUTTING_DOWN", "The server is shutting down"),
  crossSite: () => refusal("CSRF_FAILED", "CSRF error: the request comes from a page of another site"),
  overloaded: () => refusal("OVERLOADED", "The server is overloaded"),
  ownerUnreachable: () =>
    refusal(
      "OWNER_UNREACHABLE",
      "The node that serves this organization cannot be reached: it is not known whether the request had an effect",
    ),
  internalError: () => refusal("INTERNAL_SERVER_ERROR", "Internal server error"),
} as const;

/** The body of an error response (spec 2.1). */
export function errorBody(refused: Refusal): Record<string, unknown> {
  return { result: "error", msg: refused.msg, code: refused.code, ...refused.fields };
}
