// A plugin of better-auth: a signed-in user gets a session of their wallet, or of the team's that they work in.
import type { ScripServer } from '@scrip-wallet/server';
import type { BetterAuthPlugin } from 'better-auth';
import { createAuthEndpoint, sessionMiddleware } from 'better-auth/api';

/** What a session of better-auth says of who is there. */
interface SignedIn {
  user: { id: string };
  session: { activeOrganizationId?: string | null };
}

/** Whose credits are spent: the active team's, else one's own. */
export const walletOf = ({ user, session }: SignedIn): string => (session.activeOrganizationId ? `team-${session.activeOrganizationId}` : `user-${user.id}`);

/** Who spends whose credits: of a team's, its limits count what each member uses. */
export const spenderOf = (signedIn: SignedIn): { externalUserId: string; member?: string } => ({
  externalUserId: walletOf(signedIn),
  ...(signedIn.session.activeOrganizationId && { member: signedIn.user.id }),
});

export const scripSessions = (scrip: ScripServer) =>
  ({
    id: 'scrip',
    endpoints: {
      // Under better-auth's own address: it refuses what other sites ask for.
      scripSession: createAuthEndpoint('/scrip/session', { method: 'POST', use: [sessionMiddleware] }, async (context) =>
        context.json(await scrip.session({ externalUserId: walletOf(context.context.session as SignedIn) })),
      ),
    },
  }) satisfies BetterAuthPlugin;
