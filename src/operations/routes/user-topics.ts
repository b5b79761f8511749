/** A user's visibility policies of topics (public API: update-user-topic, mute-topic). */
import { command } from "../../../actors/protocol/decision.ts";
import { topicFor } from "../../../domain/topics.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { muteTopic, type TopicPolicy, topicPolicies, updateUserTopic } from "../../../schemas/user-topics.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

export const userTopicRoutes = [
  bind(updateUserTopic, (call) => {
    const { stream_id: channel, topic, visibility_policy: wanted } = call.params;
    const policy = Object.values(topicPolicies).find((value) => value === wanted) ?? topicPolicies.none;
    return ask(call, { channel, topic, policy, unknown: refuse.invalidChannelId() });
  }),

  bind(muteTopic, (call) => {
    const { stream_id: id, stream: name, topic, op } = call.params;
    if (id !== undefined && name !== undefined) return refuse.parameterCombination(["stream_id", "stream"]);
    const channel = id ?? name;
    if (channel === undefined) return refuse.badRequest("Missing 'stream_id' argument");
    if (op === "remove") {
      const unknown = refuse.badRequest("Topic is not muted");
      return ask(call, { channel, topic, policy: topicPolicies.none, unknown });
    }
    const unknown = typeof channel === "number" ? refuse.invalidChannelId() : refuse.invalidChannelName(channel);
    return ask(call, { channel, topic, policy: topicPolicies.muted, unknown });
  }),
];

interface Wanted {
  readonly channel: number | string;
  readonly topic: string;
  readonly policy: TopicPolicy;
  /** The error for a channel that the caller may not know. */
  readonly unknown: Refusal;
}

function ask(call: Call, { channel, topic, policy, unknown }: Wanted) {
  const { id } = requireCaller(call);
  const params = { channel, topic: topicFor(call.realm.view, topic), policy, unknown };
  return call.realm.dispatcher.ask(command({ actor: "user", id }, "user-topics.set", params, id), call.idempotencyKey);
}
