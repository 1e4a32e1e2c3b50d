// Newer compilers ask what a style sheet is when it is imported: nothing but its effect.
export {};
