//! What each verb does, and which refusal wins.
