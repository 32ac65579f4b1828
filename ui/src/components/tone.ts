/** Meaning of a color. */
export type Tone = 'good' | 'bad' | 'waiting' | 'neutral';
