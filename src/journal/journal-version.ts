/** Version of the events in a journal. Not in the file of their schemas, because hooks only write events. */
export const journalVersion = 1;
