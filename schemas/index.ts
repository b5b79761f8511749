/** Every operation of the server: one list for the router, the reference, the fuzz and the differential test. */
import { fetchApiKey } from "./authentication.ts";
import { createChannel, deleteTopic, getStreams } from "./channels.ts";
import type { Endpoint } from "./endpoint.ts";
import { getMessage, getMessages, sendMessage } from "./messages.ts";
import { addNavigationView, editNavigationView, getNavigationViews, removeNavigationView } from "./navigation-views.ts";
import { setTypingStatus, updatePresence } from "./presence.ts";
import { deleteQueue, getEvents, registerQueue } from "./queues.ts";
import { createSavedSnippet, deleteSavedSnippet, editSavedSnippet, getSavedSnippets } from "./saved-snippets.ts";
import { getServerSettings } from "./server.ts";
import { getUserStatus, updateStatus, updateStatusForUser } from "./status.ts";
import { getSubscriptions, subscribe, unsubscribe } from "./subscriptions.ts";
import { createUser, deactivateUser, getOwnUser, getUsers } from "./users.ts";

export const endpoints = [
  getServerSettings,
  fetchApiKey,
  createUser,
  getOwnUser,
  getUsers,
  deactivateUser,
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
