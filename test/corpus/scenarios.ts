/** Inputs of the corpus: what happens to an agent, and to the values of the compliance suites. */
import { recordLinuxExamples, recordVppExamples } from './examples.ts';
import type { Recording } from './recording.ts';
import { questions } from './scenarios/questions.ts';
import { restarts } from './scenarios/restarts.ts';
import { shop } from './scenarios/shop.ts';

export interface Scenario {
  readonly name: string;
  readonly run: (recording: Recording) => Promise<void>;
}

export const scenarios: readonly Scenario[] = [
  { name: 'shop', run: shop },
  { name: 'restarts', run: restarts },
  { name: 'questions', run: questions },
  { name: 'vpp-examples', run: recordVppExamples },
  { name: 'linux-examples', run: recordLinuxExamples },
];
