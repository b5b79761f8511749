/**
 * One person: API keys and event queues now; settings, status and read state live here, too, as they come.
 * Whether the account is active is the realm's to say; a deactivated person's commands are refused in every state.
 */
import { setup } from "xstate";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { addAlertWords, removeAlertWords } from "./alert-words.ts";
import { addApiKey, regenerateApiKey } from "./api-keys.ts";
import { addAttachment, removeAttachment } from "./attachments.ts";
import { setAvatar } from "./avatars.ts";
import { removeBotStorage, setBotStorage } from "./bot-storage.ts";
import { addDrafts, removeDraft, updateDraft } from "./drafts.ts";
import { expireEmailChange, requestEmailChange } from "./email-change.ts";
import { continueFlags, updateFlags } from "./message-flags.ts";
import { mailMissedMessages } from "./missed-messages.ts";
import { muteUser, unmuteUser } from "./muted-users.ts";
import { addNavigationView, removeNavigationView, updateNavigationView } from "./navigation-views.ts";
import { addPushToken, registerDevice, removeDevice, removePushToken } from "./push-devices.ts";
import { deleteQueue, registerQueue } from "./queues.ts";
import { announceRead } from "./read-announcements.ts";
import { markAllRead, markChannelRead, markTopicRead, sweepExceptions } from "./read-state.ts";
import { addReminder, giveUpReminder, removeReminder } from "./reminders.ts";
import { addSavedSnippet, removeSavedSnippet, updateSavedSnippet } from "./saved-snippets.ts";
import {
  addScheduledMessage,
  giveUpScheduledMessage,
  removeScheduledMessage,
  updateScheduledMessage,
} from "./scheduled-messages.ts";
import { changeSettings } from "./settings.ts";
import { updateStatus } from "./status.ts";
import { changeSubscriptionSettings } from "./subscription-settings.ts";
import { setUserTopic } from "./user-topics.ts";

export type UserContext = Record<string, never>;

export const userMachineVersion = 1;

const { decide, notUnderstood } = hosting<UserContext>();

export const userMachine = setup({
  types: { context: {} as UserContext, events: {} as CommandEvent, emitted: {} as Emitted },
}).createMachine({
  id: "user",
  context: {},
  initial: "active",
  states: {
    active: {
      on: {
        "user.api-key.add": { actions: decide(addApiKey) },
        "user.email-change.request": { actions: decide(requestEmailChange) },
        "user.email-change.expire": { actions: decide(expireEmailChange) },
        "user.change-settings": { actions: decide(changeSettings) },
        "status.update": { actions: decide(updateStatus) },
        "navigation-views.add": { actions: decide(addNavigationView) },
        "navigation-views.update": { actions: decide(updateNavigationView) },
        "navigation-views.remove": { actions: decide(removeNavigationView) },
        "saved-snippets.add": { actions: decide(addSavedSnippet) },
        "saved-snippets.update": { actions: decide(updateSavedSnippet) },
        "saved-snippets.remove": { actions: decide(removeSavedSnippet) },
        "drafts.add": { actions: decide(addDrafts) },
        "drafts.update": { actions: decide(updateDraft) },
        "drafts.remove": { actions: decide(removeDraft) },
        "scheduled-messages.add": { actions: decide(addScheduledMessage) },
        "scheduled-messages.update": { actions: decide(updateScheduledMessage) },
        "scheduled-messages.remove": { actions: decide(removeScheduledMessage) },
        "scheduled-messages.give-up": { actions: decide(giveUpScheduledMessage) },
        "reminders.add": { actions: decide(addReminder) },
        "reminders.remove": { actions: decide(removeReminder) },
        "reminders.give-up": { actions: decide(giveUpReminder) },
        "bot-storage.set": { actions: decide(setBotStorage) },
        "bot-storage.remove": { actions: decide(removeBotStorage) },
        "push-token.add": { actions: decide(addPushToken) },
        "push-token.remove": { actions: decide(removePushToken) },
        "device.register": { actions: decide(registerDevice) },
        "device.remove": { actions: decide(removeDevice) },
        "alert-words.add": { actions: decide(addAlertWords) },
        "alert-words.remove": { actions: decide(removeAlertWords) },
        "message-flags.update": { actions: decide(updateFlags) },
        "message-flags.continue": { actions: decide(continueFlags) },
        "read-state.mark-all": { actions: decide(markAllRead) },
        "read-state.mark-channel": { actions: decide(markChannelRead) },
        "read-state.mark-topic": { actions: decide(markTopicRead) },
        "read-state.announce": { actions: decide(announceRead) },
        "read-state.sweep": { actions: decide(sweepExceptions) },
        "missed-messages.due": { actions: decide(mailMissedMessages) },
        "muted-users.add": { actions: decide(muteUser) },
        "muted-users.remove": { actions: decide(unmuteUser) },
        "subscription-settings.change": { actions: decide(changeSubscriptionSettings) },
        "user-topics.set": { actions: decide(setUserTopic) },
        "attachment.add": { actions: decide(addAttachment) },
        "attachment.remove": { actions: decide(removeAttachment) },
        "user.avatar.set": { actions: decide(setAvatar) },
        "user.api-key.regenerate": { actions: decide(regenerateApiKey) },
        "queue.register": { actions: decide(registerQueue) },
        "queue.delete": { actions: decide(deleteQueue) },
      },
    },
  },
  on: { "*": { actions: notUnderstood } },
});
