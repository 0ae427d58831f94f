import { prdCase } from './cases/prd.ts';
import { testFaults } from './matrix.ts';

testFaults('ralph prd run', prdCase, 80);
