/** What the first view does not need, in one file (lazy-views.ts). */
import { watchCopying } from "../copying.ts";

export { candidatesFor } from "../compose/candidates.ts";
export { insertTable } from "../compose/pasted-table.ts";
export { Preview } from "../compose/preview.tsx";
export { ScheduleDialog } from "../compose/schedule-dialog.tsx";
export { suggestionsFor } from "../state/suggestions.ts";
export { Drafts, ScheduledMessages } from "./drafts.tsx";
export { EditBox } from "./edit-box.tsx";
export { EmojiPicker } from "./emoji-picker.tsx";
export { ImageViewer } from "./image-viewer.tsx";
export { KeyboardHelp } from "./keyboard-help.tsx";
export { MessageDialogs } from "./message-dialogs.tsx";
export { changeSendKey, OwnMenu } from "./own-menu.tsx";
export { PersonCard } from "./person-card.tsx";
export { MessageWidget } from "./poll.tsx";

watchCopying();
