/** The version of the events in a journal. Apart from their schemas: hooks write events and never read one. */
export const journalVersion = 1;
