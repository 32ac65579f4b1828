/** The encryption between two nodes over IPv4. */
import { encryptionSuite } from '../support/encryption-suite.ts';

encryptionSuite(4);
