package engine

