package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"fednode/configs"
	"fednode/contracts"
	"fednode/node/trust"
	"fednode/query/op"
	"fednode/query/spec"
)

func contractCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "contract",
		Short: "Write and check contracts, and see what one more is worth",
		Long: `A contract says what may run for whom, at which price, and how much of it. Two organisations agree on it before either
needs the other; load then moves along it when that gains for both.`,
	}
	c.AddCommand(contractNewCommand(), contractValidateCommand(), contractShowCommand(), contractAdviseCommand())
	return c
}

// readTerms reads the terms of a file, and fails with every error of it.
func readTerms(path string) (*contracts.Terms, contracts.ID, error) {
	src, err := readLimited(path, spec.MaxFileBytes)
	if err != nil {
		return nil, "", err
	}
	var kinds []string
	for _, k := range op.Kinds() {
		kinds = append(kinds, k.Name)
	}
	terms, problems := contracts.Read(path, src, contracts.Options{Operators: append(kinds, "union")})
	if err := problems.Err(); err != nil {
		return nil, "", err
	}
	canonical, err := contracts.Encode(terms)
	if err != nil {
		return nil, "", err
	}
	return terms, contracts.IDOf(canonical), nil
}

func contractNewCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "new FILE --between NORTH,SOUTH",
		Short:   "Write a commented file of terms; nothing is overwritten",
		Example: "  fednode contract new peak.toml --between north,south",
		Args:    exactArgs(1),
	}
	between := c.Flags().StringSlice("between", nil, "the two organisations (required)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(*between) != 2 || (*between)[0] == (*between)[1] {
			return wrong("--between names two organisations, such as north,south; got %d", len(*between))
		}
		a, b := (*between)[0], (*between)[1]
		if err := errors.Join(trust.CheckName("--between", a), trust.CheckName("--between", b)); err != nil {
			return err
		}
		text, err := configs.ContractFile(a, b)
		if err != nil {
			return err
		}
		if err := createFile(args[0], text); err != nil {
			return err
		}
		if jsonWanted(c) {
			return printJSON(c, map[string]any{"file": args[0], "parties": *between})
		}
		fmt.Fprintf(c.OutOrStdout(), "Wrote %s. Fill it in, then: fednode contract validate %s\n", args[0], shellPath(args[0]))
		return nil
	}
	return c
}

// createFile writes a new file, whole or not at all.
func createFile(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, os.ErrExist):
		return wrong("%s exists already; nothing was overwritten: choose another name, or move the file away", path)
	case err != nil:
		return wrong("%w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func contractValidateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE…",
		Short: "Check terms; every error at once, with its place",
		Long: `Check files of terms, and print the hash that names each contract. It is of what is agreed on, not of the file: two
files that say the same in other words have one hash, and any other term is another hash.`,
		Example: "  fednode contract validate peak.toml",
		Args:    minimumArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			var errs []error
			type valid struct {
				File string       `json:"file"`
				ID   contracts.ID `json:"id"`
				Name string       `json:"name"`
			}
			list := []valid{}
			for _, path := range files {
				terms, id, err := readTerms(path)
				if err != nil {
					errs = append(errs, err)
					continue
				}
				list = append(list, valid{path, id, terms.Name})
			}
			if len(errs) > 0 {
				return errors.Join(errs...)
			}
			if jsonWanted(c) {
				return printJSON(c, map[string]any{"contracts": list})
			}
			t := &table{}
			for _, v := range list {
				t.add(cell{v.File, toneNone}, cell{"valid", toneGood}, cell{clean(v.Name), toneNone}, cell{string(v.ID), toneDim})
			}
			t.print(c.OutOrStdout())
			return nil
		},
	}
}

func contractShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "Show each clause, and how it holds: enforced, evidenced or promised",
		Long: `Show each clause of a contract, defaults included, and how it holds once it is signed:

enforced   the software of the party that the clause protects refuses what goes against it
evidenced  what happened is in logs and receipts that both sides have, so that a breach can be shown
promised   nothing but the other party's word`,
		Example: "  fednode contract show peak.toml",
		Args:    exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			terms, id, err := readTerms(args[0])
			if err != nil {
				return err
			}
			return showTerms(c, terms, id)
		},
	}
}

func showTerms(c *cobra.Command, terms *contracts.Terms, id contracts.ID) error {
	type clause struct {
		Name  string            `json:"clause"`
		Value string            `json:"value"`
		Holds contracts.Holding `json:"holds"`
	}
	list := []clause{}
	for _, k := range terms.Clauses() {
		list = append(list, clause(k))
	}
	if jsonWanted(c) {
		return printJSON(c, map[string]any{"id": id, "name": terms.Name, "clauses": list})
	}
	p := paletteOf(c.OutOrStdout())
	fmt.Fprintf(c.OutOrStdout(), "%s  %s\n\n", p.paint(toneBold, clean(terms.Name)), p.paint(toneDim, string(id)))
	tones := map[contracts.Holding]tone{contracts.Enforced: toneGood, contracts.Evidenced: toneNone, contracts.Promised: toneWarn}
	t := &table{head: []string{"CLAUSE", "HOLDS", "VALUE"}}
	for _, k := range list {
		t.add(cell{k.Name, toneNone}, cell{string(k.Holds), tones[k.Holds]}, cell{clean(k.Value), toneNone})
	}
	t.print(c.OutOrStdout())
	return nil
}
