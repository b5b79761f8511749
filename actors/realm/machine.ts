/**
 * The realm: what must be unique or consistent across an organization. One actor, so its commands form one order (M7).
 *
 *   unfounded --realm.found--> active
 *
 * Its collections live in tables; the context holds only what decides the state.
 */
import { setup } from "xstate";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { gatherMissed } from "../topic/missed-messages.ts";
import { expireAttachment, lookAtAttachments } from "./attachments.ts";
import { updateBot } from "./bot-changes.ts";
import { addBotKey, createBot, deactivateBot, regenerateBotKey } from "./bots.ts";
import { tellInactive } from "./channel-activity.ts";
import { archiveChannel } from "./channel-archive.ts";
import { createChannelFolder, reorderChannelFolders, updateChannelFolder } from "./channel-folders.ts";
import { updateChannel } from "./channel-updates.ts";
import { createChannel, findFirstMessage } from "./channels.ts";
import { setDefaultChannel } from "./default-channels.ts";
import { confirmEmailChange } from "./email-change.ts";
import { addEmoji, deactivateEmoji } from "./emoji.ts";
import { foundRealm } from "./founding.ts";
import { changeGroupMembers, continueGroupMembers } from "./group-members.ts";
import { createGroup, deactivateGroup, updateGroup } from "./groups.ts";
import { persistInputs } from "./inputs.ts";
import { createInvitation, sendInvitations } from "./invites.ts";
import { addLinkifier, removeLinkifier, reorderLinkifiers, updateLinkifier } from "./linkifiers.ts";
import { continueChange } from "./membership.ts";
import { addPlayground, removePlayground } from "./playgrounds.ts";
import { persistPresence } from "./presence.ts";
import {
  createProfileField,
  deleteProfileField,
  reorderProfileFields,
  sweepProfileValues,
  updateProfileField,
} from "./profile-fields.ts";
import { changeOwnProfile } from "./profile-values.ts";
import { carryLate } from "./read-state.ts";
import { deactivateRealm, reactivateRealm } from "./realm-deactivation.ts";
import { addRealmDomain, removeRealmDomain, updateRealmDomain } from "./realm-domains.ts";
import { setRealmPicture } from "./realm-pictures.ts";
import { changeRealmSettings } from "./realm-settings.ts";
import { changeSettingsDefaults } from "./settings-defaults.ts";
import { addSubscriptions, removeSubscriptions, updateSubscriptions } from "./subscriptions.ts";
import { deactivateSelf, deactivateUser, reactivateUser } from "./user-deactivation.ts";
import { continueTopicEnd, continueTopicMove } from "./user-topics.ts";
import { grantEmailChanges, updateUser } from "./user-updates.ts";
import { createUser } from "./users.ts";
import { endWaitingPeriods } from "./waiting-period.ts";

export interface RealmContext {
  readonly isFounded: boolean;
}

export const realmMachineVersion = 1;

const { decide, notUnderstood } = hosting<RealmContext>();

export const realmMachine = setup({
  types: { context: {} as RealmContext, events: {} as CommandEvent, emitted: {} as Emitted },
}).createMachine({
  id: "realm",
  context: { isFounded: false },
  initial: "unfounded",
  states: {
    unfounded: {
      on: { "realm.found": { actions: decide(foundRealm) } },
      always: { guard: ({ context }) => context.isFounded, target: "active" },
    },
    active: {
      on: {
        "user.create": { actions: decide(createUser) },
        "user.update": { actions: decide(updateUser) },
        "user.deactivate-self": { actions: decide(deactivateSelf) },
        "user.reactivate": { actions: decide(reactivateUser) },
        "user.grant-email-changes": { actions: decide(grantEmailChanges) },
        "user.deactivate": { actions: decide(deactivateUser) },
        "user.email-change.confirm": { actions: decide(confirmEmailChange) },
        "realm.change-settings": { actions: decide(changeRealmSettings) },
        "realm.deactivate": { actions: decide(deactivateRealm) },
        "realm.reactivate": { actions: decide(reactivateRealm) },
        "realm-domain.add": { actions: decide(addRealmDomain) },
        "realm-domain.update": { actions: decide(updateRealmDomain) },
        "realm-domain.remove": { actions: decide(removeRealmDomain) },
        "realm.picture.set": { actions: decide(setRealmPicture) },
        "realm.end-waiting-periods": { actions: decide(endWaitingPeriods) },
        "realm.change-settings-defaults": { actions: decide(changeSettingsDefaults) },
        "bot.create": { actions: decide(createBot) },
        "bot.update": { actions: decide(updateBot) },
        "bot.deactivate": { actions: decide(deactivateBot) },
        "bot.regenerate-key": { actions: decide(regenerateBotKey) },
        "bot.add-key": { actions: decide(addBotKey) },
        "profile-field.create": { actions: decide(createProfileField) },
        "profile-field.update": { actions: decide(updateProfileField) },
        "profile-field.reorder": { actions: decide(reorderProfileFields) },
        "profile-field.delete": { actions: decide(deleteProfileField) },
        "profile-values.sweep": { actions: decide(sweepProfileValues) },
        "profile-data.set": { actions: decide(changeOwnProfile) },
        "group.create": { actions: decide(createGroup) },
        "group.update": { actions: decide(updateGroup) },
        "group.deactivate": { actions: decide(deactivateGroup) },
        "group.change-members": { actions: decide(changeGroupMembers) },
        "group-members.continue": { actions: decide(continueGroupMembers) },
        "channel.create": { actions: decide(createChannel) },
        "channel-folder.create": { actions: decide(createChannelFolder) },
        "channel-folder.update": { actions: decide(updateChannelFolder) },
        "channel-folder.reorder": { actions: decide(reorderChannelFolders) },
        "channel.update": { actions: decide(updateChannel) },
        "channels.tell-inactive": { actions: decide(tellInactive) },
        "channel.archive": { actions: decide(archiveChannel) },
        "read-state.carry": { actions: decide(carryLate) },
        "members.change": { actions: decide(continueChange) },
        "channel.find-first-message": { actions: decide(findFirstMessage) },
        "subscriptions.add": { actions: decide(addSubscriptions) },
        "subscriptions.remove": { actions: decide(removeSubscriptions) },
        "subscriptions.update": { actions: decide(updateSubscriptions) },
        "default-channels.set": { actions: decide(setDefaultChannel) },
        "user-topics.move": { actions: decide(continueTopicMove) },
        "user-topics.end": { actions: decide(continueTopicEnd) },
        "attachments.recount": { actions: decide(lookAtAttachments) },
        "attachment.expire": { actions: decide(expireAttachment) },
        "emoji.add": { actions: decide(addEmoji) },
        "emoji.deactivate": { actions: decide(deactivateEmoji) },
        "linkifier.add": { actions: decide(addLinkifier) },
        "linkifier.update": { actions: decide(updateLinkifier) },
        "linkifier.remove": { actions: decide(removeLinkifier) },
        "linkifier.reorder": { actions: decide(reorderLinkifiers) },
        "playground.add": { actions: decide(addPlayground) },
        "playground.remove": { actions: decide(removePlayground) },
        "invitation.create": { actions: decide(createInvitation) },
        "invitations.send": { actions: decide(sendInvitations) },
        "missed-messages.gather": { actions: decide(gatherMissed) },
        "presence.persist": { actions: decide(persistPresence) },
        "inputs.persist": { actions: decide(persistInputs) },
      },
    },
  },
  on: { "*": { actions: notUnderstood } },
});
