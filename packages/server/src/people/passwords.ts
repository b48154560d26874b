import { hashPassword, verifyPassword } from 'better-auth/crypto'

/** How a password is turned into what is kept of it. Costly on purpose, so tests bring another. */
export interface Passwords {
  hash(password: string): Promise<string>
  verify(given: { hash: string; password: string }): Promise<boolean>
}

/** The scrypt that better-auth uses when it is told nothing. */
export const scryptPasswords: Passwords = { hash: hashPassword, verify: verifyPassword }
