/**
 * The first run (D285): the holder of the setup link names the organization and claims the owner's account, all in one
 * turn. The notification bot then explains topics.
 */

import type { View } from "../../domain/view.ts";
import type { ChannelCreate, ChannelRecord } from "../../schemas/channels.ts";
import { refuse } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, command, done, effects, forServer, type Outcome, type Params } from "../protocol/decision.ts";
import { revokeLinks } from "../rules/email-changes.ts";
import { botMessage } from "../rules/notification-bot.ts";
import { revokeResets } from "../rules/password-resets.ts";
import { endSetup, openSetup } from "../rules/setup.ts";
import { changeRealmSettings } from "./realm-settings.ts";
import { updateUser } from "./user-updates.ts";

/** The topic that a setup leads into. */
export const welcomeTopic = "welcome";

export function setUp(params: Params<"realm.set-up">, view: View): Outcome {
  const open = openSetup(view);
  if (open === null || open.secret !== params.secret) return refuse.notFound();
  const { owner } = open;
  const { fullName, email: newEmail, name, passwordHash, channelNames } = params;
  const person = { target: { id: owner.id }, role: null, fullName, profileData: [], newEmail };
  // The account has no address of a person yet that a change would have to be confirmed to.
  const claimed = updateUser({ ...owner, canChangeUserEmails: true }, person, view);
  if (claimed.kind !== "done") return claimed;
  const named = changeRealmSettings(null, { settings: { name }, groups: {}, isWebPublicAllowed: false }, view);
  if (named.kind !== "done") return named;
  const general = view.channels.get(1);
  return done({}, [
    ...claimed.effects,
    ...named.effects,
    effects.put("credentials", owner.id, { userId: owner.id, passwordHash }),
    ...endSetup(view, owner.id),
    ...revokeResets(view, owner.id),
    ...revokeLinks(view, owner.id),
    ...enterSends(owner).map(effects.send),
    ...channelNames.map((channel) => effects.send(newChannel(channel, owner))),
    ...(general === undefined ? [] : lessons(general, { ...owner, fullName }, name).map(effects.send)),
  ]);
}

/** For the owner and everybody who joins later. Programs that create organizations get the defaults of the API. */
function enterSends({ id }: UserRecord): Command[] {
  const settings = { enter_sends: true };
  return [
    command({ actor: "realm" }, "realm.change-settings-defaults", { settings }, id),
    command({ actor: "user", id }, "user.change-settings", { settings, fullName: null, password: null }, id),
  ];
}

/** Everybody who joins later is in it, too. */
function newChannel(name: string, owner: UserRecord): Command {
  const channel: ChannelCreate = {
    name,
    description: "",
    renderedDescription: "",
    isPrivate: false,
    isWebPublic: false,
    isHistoryPublic: null,
    isDefault: true,
    messageRetentionDays: null,
    folderId: null,
    topicsPolicy: "inherit",
    groups: {},
    subscriberIds: [owner.id],
    announce: false,
    isWebPublicAllowed: false,
  };
  return command({ actor: "realm" }, "channel.create", channel, owner.id);
}

function lessons(channel: ChannelRecord, { fullName, id }: UserRecord, name: string): Command[] {
  const texts = [
    `Welcome to ${name}, @_**${fullName}|${id}**!\n\nYou are reading a **topic**: a conversation with a name, here *${welcomeTopic}*, in the channel #**${channel.name}**. Many topics can go on side by side in a channel, and everybody reads those that matter to them.`,
    "Reply below to continue this topic. For another subject, begin a topic of its own: press `c`, choose a channel, and write what it is about in a few words, as in the subject of an email.",
    "Next: [invite people](/#organization/invitations), [name and describe the organization](/#organization/general), or press `?` for the keys. A topic that is finished can be marked as resolved in its menu.",
  ];
  return texts.map((text) => botMessage(channel, welcomeTopic, text));
}

export const setupDecisions = {
  "realm.set-up": forServer(setUp),
} as const;
