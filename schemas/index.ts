/** Every operation of the server: one list for the router, the reference, the fuzz and the differential test. */
import { fetchApiKey, regenerateApiKey } from "./authentication.ts";
import { createBot, deactivateBot, getBots, regenerateBotKey, updateBot } from "./bots.ts";
import { createChannel, deleteTopic, getStreams } from "./channels.ts";
import type { Endpoint } from "./endpoint.ts";
import { getMessage, getMessages, sendMessage } from "./messages.ts";
import { setTypingStatus, updatePresence } from "./presence.ts";
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
import { getServerSettings } from "./server.ts";
import { getSubscriptions, subscribe, unsubscribe } from "./subscriptions.ts";
import { createUser, deactivateUser, getOwnUser, getUsers } from "./users.ts";

export const endpoints = [
  getServerSettings,
  fetchApiKey,
  regenerateApiKey,
  createUser,
  getOwnUser,
  getUsers,
  deactivateUser,
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
  createChannel,
  getStreams,
  deleteTopic,
  getSubscriptions,
  subscribe,
  unsubscribe,
  sendMessage,
  getMessages,
  getMessage,
  setTypingStatus,
  updatePresence,
  registerQueue,
  getEvents,
  deleteQueue,
] as unknown as readonly Endpoint[];
