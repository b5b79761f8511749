/** The bot that announces and notifies. Its id is stable: the first user of every realm. */
export const notificationBotId = 1;
