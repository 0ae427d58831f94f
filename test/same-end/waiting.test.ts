import { waitingCases } from './cases.ts';
import { describeEnds } from './play.ts';

describeEnds(waitingCases);
