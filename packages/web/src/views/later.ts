/** Views that the first view does not need, in one file (lazy-views.ts). */
export { ScheduleDialog } from "../compose/schedule-dialog.tsx";
export { Drafts, ScheduledMessages } from "./drafts.tsx";
export { EmojiPicker } from "./emoji-picker.tsx";
export { ImageViewer } from "./image-viewer.tsx";
export { KeyboardHelp } from "./keyboard-help.tsx";
export { MessageDialogs } from "./message-dialogs.tsx";
export { PersonCard } from "./person-card.tsx";
export { MessageWidget } from "./poll.tsx";
