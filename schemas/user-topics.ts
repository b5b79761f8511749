/** What a person thinks of a topic (public API: update-user-topic, mute-topic). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id } from "./types.ts";

const Topic = Type.String({ maxLength: limits.topic_code_points_max });

export const updateUserTopic = defineEndpoint({
  operationId: "update-user-topic",
  method: "POST",
  path: "/user_topics",
  authentication: "user",
  effectiveness: "durable",
  summary: "Mutes, unmutes or follows a topic, or takes that back, for the caller alone.",
  params: { stream_id: Id, topic: Topic, visibility_policy: Type.Enum([0, 1, 2, 3]) },
  ok: {},
  errors: [],
});

export const muteTopic = defineEndpoint({
  operationId: "mute-topic",
  method: "PATCH",
  path: "/users/me/subscriptions/muted_topics",
  authentication: "user",
  effectiveness: "durable",
  summary: "Mutes a topic or ends that; deprecated in favour of update-user-topic.",
  params: {
    stream_id: Type.Optional(Id),
    stream: Type.Optional(Type.String()),
    topic: Topic,
    op: Type.Enum(["add", "remove"], { wire: "text" }),
  },
  ok: {},
  errors: [],
});
