/** The state of a client and the reducer that events change it with. */
export { type ChatState, channelKey, directKey, type ReducerOptions } from "./chat-state.ts";
export { applyEvent, chatStateOf, reducedTypes } from "./reducer.ts";
export { conversationKey } from "./unread.ts";
