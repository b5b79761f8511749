/** Every operation of the server: one list for the router, the reference, the fuzz and the differential test. */
import { addAlertWords, getAlertWords, removeAlertWords } from "./alert-words.ts";
import { getAttachments, getFileTemporaryUrl, removeAttachment, uploadFile } from "./attachments.ts";
import { fetchApiKey, regenerateApiKey } from "./authentication.ts";
import { deleteAvatar, uploadAvatar } from "./avatars.ts";
import { createBot, deactivateBot, getBots, regenerateBotKey, updateBot } from "./bots.ts";
import {
  createChannelFolder,
  getChannelFolders,
  reorderChannelFolders,
  updateChannelFolder,
} from "./channel-folders.ts";
import {
  archiveChannel,
  createChannel,
  deleteTopic,
  getChannel,
  getChannelId,
  getStreams,
  updateChannel,
} from "./channels.ts";

import { addDefaultChannel, removeDefaultChannel } from "./default-channels.ts";
import { createDrafts, deleteDraft, editDraft, getDrafts } from "./drafts.ts";
import { deactivateEmoji, getEmoji, uploadEmoji } from "./emoji.ts";
import type { Endpoint } from "./endpoint.ts";
import {
  createInviteLink,
  editInviteLink,
  getInvites,
  resendInvite,
  revokeInvite,
  revokeInviteLink,
  sendInvites,
} from "./invites.ts";
import { addLinkifier, getLinkifiers, removeLinkifier, reorderLinkifiers, updateLinkifier } from "./linkifiers.ts";
import { deleteMessage, getMessageHistory, updateMessage } from "./message-changes.ts";
import {
  getReadReceipts,
  markAllAsRead,
  markStreamAsRead,
  markTopicAsRead,
  updateMessageFlags,
  updateMessageFlagsForNarrow,
} from "./message-flags.ts";
import { reportMessage } from "./message-reports.ts";
import {
  checkMessagesMatchNarrow,
  getMessage,
  getMessages,
  getStreamTopics,
  renderMessage,
  sendMessage,
} from "./messages.ts";
import { muteUser, unmuteUser } from "./muted-users.ts";
import { addNavigationView, editNavigationView, getNavigationViews, removeNavigationView } from "./navigation-views.ts";
import { addPlayground, removePlayground } from "./playgrounds.ts";
import {
  getPresence,
  getUserPresence,
  setTypingStatus,
  setTypingStatusForMessageEdit,
  updatePresence,
} from "./presence.ts";
import {
  createProfileField,
  deleteProfileField,
  getProfileFields,
  removeProfileData,
  reorderProfileFields,
  updateProfileData,
  updateProfileField,
} from "./profile-fields.ts";
import { deleteQueue, getEvents, registerQueue } from "./queues.ts";
import { addReaction, removeReaction } from "./reactions.ts";
import { updateRealm } from "./realm-settings.ts";
import { createReminder, deleteReminder, getReminders } from "./reminders.ts";
import { createSavedSnippet, deleteSavedSnippet, editSavedSnippet, getSavedSnippets } from "./saved-snippets.ts";
import {
  createScheduledMessage,
  deleteScheduledMessage,
  getScheduledMessages,
  updateScheduledMessage,
} from "./scheduled-messages.ts";
import { getServerSettings } from "./server.ts";
import {
  updateDisplaySettings,
  updateNotificationSettings,
  updateSettings,
  updateUserSettingsDefaults,
} from "./settings.ts";
import { getUserStatus, updateStatus, updateStatusForUser } from "./status.ts";
import {
  getSubscribers,
  getSubscriptionStatus,
  getSubscriptions,
  subscribe,
  unsubscribe,
  updateSubscriptionSettings,
  updateSubscriptions,
} from "./subscriptions.ts";
import { getUsage } from "./usage.ts";
import {
  createUserGroup,
  deactivateUserGroup,
  getIsUserGroupMember,
  getUserGroupMembers,
  getUserGroupSubgroups,
  getUserGroups,
  updateUserGroup,
  updateUserGroupMembers,
  updateUserGroupSubgroups,
} from "./user-groups.ts";
import { muteTopic, updateUserTopic } from "./user-topics.ts";
import {
  createUser,
  deactivateOwnUser,
  deactivateUser,
  getOwnUser,
  getUser,
  getUserByEmail,
  getUsers,
  reactivateUser,
  updateUser,
  updateUserByEmail,
} from "./users.ts";
import { serviceOutgoingWebhook } from "./webhooks.ts";

export const endpoints = [
  getServerSettings,
  fetchApiKey,
  regenerateApiKey,
  createUser,
  getOwnUser,
  getUsers,
  getUser,
  getUserByEmail,
  updateUser,
  updateUserByEmail,
  deactivateUser,
  updateSettings,
  updateDisplaySettings,
  updateNotificationSettings,
  updateUserSettingsDefaults,
  updateRealm,
  deactivateOwnUser,
  reactivateUser,
  updateStatus,
  updateStatusForUser,
  getUserStatus,
  getNavigationViews,
  addNavigationView,
  editNavigationView,
  removeNavigationView,
  getSavedSnippets,
  createSavedSnippet,
  editSavedSnippet,
  deleteSavedSnippet,
  getDrafts,
  createDrafts,
  editDraft,
  deleteDraft,
  getScheduledMessages,
  createScheduledMessage,
  updateScheduledMessage,
  deleteScheduledMessage,
  getReminders,
  createReminder,
  deleteReminder,
  getAlertWords,
  addAlertWords,
  removeAlertWords,
  muteUser,
  unmuteUser,
  uploadFile,
  getFileTemporaryUrl,
  getAttachments,
  removeAttachment,
  uploadAvatar,
  deleteAvatar,
  uploadEmoji,
  getEmoji,
  deactivateEmoji,
  createBot,
  getBots,
  updateBot,
  deactivateBot,
  regenerateBotKey,
  getProfileFields,
  createProfileField,
  reorderProfileFields,
  updateProfileField,
  deleteProfileField,
  updateProfileData,
  removeProfileData,
  createInviteLink,
  sendInvites,
  getInvites,
  revokeInvite,
  editInviteLink,
  revokeInviteLink,
  resendInvite,
  getLinkifiers,
  addLinkifier,
  updateLinkifier,
  removeLinkifier,
  reorderLinkifiers,
  addPlayground,
  removePlayground,
  createUserGroup,
  getUserGroups,
  updateUserGroup,
  deactivateUserGroup,
  getUserGroupMembers,
  getIsUserGroupMember,
  updateUserGroupMembers,
  getUserGroupSubgroups,
  updateUserGroupSubgroups,
  createChannel,
  getStreams,
  getChannel,
  getChannelId,
  updateChannel,
  archiveChannel,
  deleteTopic,
  createChannelFolder,
  getChannelFolders,
  reorderChannelFolders,
  updateChannelFolder,
  getSubscriptions,
  subscribe,
  unsubscribe,
  updateSubscriptions,
  updateSubscriptionSettings,
  getSubscribers,
  getSubscriptionStatus,
  addDefaultChannel,
  removeDefaultChannel,
  updateUserTopic,
  muteTopic,
  sendMessage,
  getMessages,
  getMessage,
  renderMessage,
  checkMessagesMatchNarrow,
  getStreamTopics,
  updateMessage,
  deleteMessage,
  reportMessage,
  getMessageHistory,
  addReaction,
  removeReaction,
  updateMessageFlags,
  updateMessageFlagsForNarrow,
  markAllAsRead,
  markStreamAsRead,
  markTopicAsRead,
  getReadReceipts,
  setTypingStatus,
  setTypingStatusForMessageEdit,
  updatePresence,
  getPresence,
  getUsage,
  getUserPresence,
  registerQueue,
  getEvents,
  deleteQueue,
  serviceOutgoingWebhook,
] as unknown as readonly Endpoint[];
