'use client';

import { useRouter } from 'next/navigation';
import { useState, type FormEvent } from 'react';
import { authClient } from '../lib/auth-client';

export function SignIn() {
  const router = useRouter();
  const [message, setMessage] = useState('');
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [email, password] = [String(form.get('email')), String(form.get('password'))];
    const signUp = await authClient.signUp.email({ email, password, name: email.split('@')[0] ?? email });
    const { error } = signUp.error ? await authClient.signIn.email({ email, password }) : signUp;
    if (error) setMessage(error.message ?? 'That did not work.');
    else router.refresh();
  };
  return (
    <main className="sign-in">
      <h1>Atelier</h1>
      <p>Drawings, five credits each. Sign up with any address.</p>
      <form onSubmit={(event) => void submit(event)}>
        <label htmlFor="email">Email</label>
        <input id="email" name="email" type="email" autoComplete="email" required />
        <label htmlFor="password">Password</label>
        <input id="password" name="password" type="password" autoComplete="current-password" minLength={8} required />
        <button className="main">Sign in, or up</button>
        <p role="status">{message}</p>
      </form>
    </main>
  );
}
