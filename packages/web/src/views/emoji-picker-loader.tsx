/** Loads the emoji picker when somebody opens it. */
import type { EmojiPickerProps } from "../emoji.ts";
import { lazy } from "./parts.tsx";

export const lazyEmojiPicker = lazy<EmojiPickerProps>(async () => (await import("./emoji-picker.tsx")).EmojiPicker);
