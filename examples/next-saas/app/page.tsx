import { headers } from 'next/headers';
import { auth } from '../lib/auth';
import { spenderOf } from '../lib/better-auth-scrip';
import { SCRIP_URL, scrip } from '../lib/scrip';
import { Atelier } from './atelier';
import { SignIn } from './sign-in';

/** What is known on the server is in the page at once; from then on the page follows its wallet by itself. */
export default async function Page() {
  const signedIn = await auth.api.getSession({ headers: await headers() });
  if (!signedIn) return <SignIn />;
  const { externalUserId, member } = spenderOf(signedIn);
  const [{ walletId: _, ...wallet }, products] = await Promise.all([scrip.wallet({ externalUserId }), scrip.products()]);
  return <Atelier key={externalUserId} scripUrl={SCRIP_URL} name={signedIn.user.name} member={member} initial={{ wallet, products }} />;
}
