import { supervisorCase } from './cases/supervisor.ts';
import { testFaults } from './matrix.ts';

testFaults('swarm supervise', supervisorCase, 6);
